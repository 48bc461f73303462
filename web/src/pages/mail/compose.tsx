import { useState } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import { useAgents } from "../../api/resources.ts";
import { useDraft } from "../../state/drafts.ts";
import { useUrl } from "../../state/url.ts";
import { Button } from "../../ui/controls.tsx";
import { asOptions, Form, Select, TextArea, TextField } from "../../ui/fields.tsx";
import { Overlay } from "../../ui/overlays.tsx";

export const mailTypes = [
  "status",
  "question",
  "dispatch",
  "decision",
  "result",
  "error",
  "worker_done",
  "worker_died",
  "merge_ready",
  "merged",
  "merge_failed",
  "escalation",
  "assign",
  "decision_gate",
  "review",
  "shutdown",
  "spec_ready",
] as const;

/** A person writes these; the others carry data that agents and the engine know. */
const written = ["status", "question", "dispatch", "shutdown"];
const priorities = ["low", "normal", "high", "urgent"];

/** A new message, over the page while `?compose=<name>` is in the address. */
export function Compose() {
  const { search, set } = useUrl();
  const close = (): void => set({ compose: undefined });
  const isOpen = search.compose !== undefined;
  return (
    <Overlay title="New message" shape="panel" open={isOpen} onClose={close}>
      {isOpen ? (
        <Letter key={search.compose} to={search.compose === "new" ? "" : (search.compose ?? "")} onClose={close} />
      ) : null}
    </Overlay>
  );
}

function Letter({ to: given, onClose }: { to: string; onClose: () => void }) {
  const act = useAct();
  const offline = useWhyNot();
  const { agents = [] } = useAgents();
  const [type, setType] = useState("status");
  const [priority, setPriority] = useState("normal");
  const [changed, setChanged] = useState(given);
  const reader = useDraft("compose..to");
  // A message that was begun at an agent goes to that agent, whatever was written before.
  const [to, setTo] = given === "" ? [reader.text, reader.setText] : [changed, setChanged];
  const subject = useDraft(`compose.${given}.subject`);
  const body = useDraft(`compose.${given}.body`);
  const names = [...agents.filter(({ running }) => running).map(({ name }) => name), "@all", "@builders", "@leads"];
  const missing =
    to.trim() === "" ? "Name the reader first" : subject.text.trim() === "" ? "It has no subject yet" : undefined;
  const whyNot = offline ?? missing ?? (body.text.trim() === "" ? "Nothing is written yet" : undefined);
  const send = async (): Promise<void> => {
    if (whyNot !== undefined) return;
    const sent = await act({
      what: `send the message to ${to.trim()}`,
      method: "POST",
      path: "/api/mail",
      body: { to: to.trim(), subject: subject.text.trim(), body: body.text, type, priority, strict: true },
      done: `Message sent to ${to.trim()}.`,
    });
    if (!sent) return;
    if (given === "") reader.clear();
    subject.clear();
    body.clear();
    onClose();
  };
  return (
    <Form
      onSubmit={() => void send()}
      buttons={
        <>
          <Button onClick={onClose}>Keep as draft</Button>
          <Button look="primary" type="submit" whyNot={whyNot}>
            Send message
          </Button>
        </>
      }
    >
      <TextField
        label="To"
        value={to}
        onChange={setTo}
        options={names}
        autoFocus={given === ""}
        hint="An agent, or @all"
      />
      <Select label="Type" value={type} onChange={setType} options={asOptions(written)} />
      <Select label="Priority" value={priority} onChange={setPriority} options={asOptions(priorities)} />
      <TextField label="Subject" value={subject.text} onChange={subject.setText} autoFocus={given !== ""} />
      <TextArea label="Message" value={body.text} onChange={body.setText} rows={10} />
    </Form>
  );
}
