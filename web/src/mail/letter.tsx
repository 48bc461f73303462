import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useAgents } from "../api/resources.ts";
import type { Letter } from "../api/types.ts";
import { useCommands } from "../state/commands.ts";
import { Button } from "../ui/controls.tsx";
import { TextField } from "../ui/fields.tsx";
import { Prose } from "../ui/prose.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { Speech } from "../ui/speech.tsx";
import { Age, Facts } from "../ui/text.tsx";
import { Deliveries } from "./deliveries.tsx";
import css from "./letter.module.css";
import { useMailActions } from "./mail-actions.ts";
import { PayloadCard } from "./payload-card.tsx";

/** One message: who wrote it to whom, how far it came, its words, its data, and what can be done about it. */
export function LetterCard({ letter, subject }: { letter: Letter; subject?: string }) {
  const isDead = letter.deliveries.some(({ state }) => state === "dead");
  return (
    <Speech
      className={css.letter}
      data-tone={isDead ? "bad" : letter.asks === null ? undefined : "attn"}
      aria-label={`${letter.type} of ${letter.from}`}
      id={`msg-${letter.id}`}
    >
      <header>
        <b className={css.from}>{letter.from === "operator" ? "you" : <AgentLink name={letter.from} />}</b>
        <span className={css.meta}>
          <Facts
            facts={[
              `to ${letter.to}`,
              letter.type.replaceAll("_", " "),
              letter.priority === "normal" ? null : letter.priority,
              letter.senderConfirmed ? null : "sender not confirmed",
              <Age key="age" at={letter.createdAt} form="span" />,
            ]}
          />
        </span>
      </header>
      {subject === undefined || letter.subject === subject ? null : (
        <p className={css.subject}>{withTurns(letter.subject)}</p>
      )}
      <Prose text={letter.body} />
      {letter.blobPath === null ? null : (
        <p className={css.meta}>
          The whole text is in <code>{letter.blobPath}</code>
        </p>
      )}
      <PayloadCard letter={letter} />
      <Deliveries deliveries={letter.deliveries} />
      {isDead ? <DeadLetter letter={letter} /> : null}
      {letter.asks?.kind === "decision" ? <Decision letter={letter} options={letter.asks.options} /> : null}
    </Speech>
  );
}

const AgentLink = ({ name }: { name: string }) =>
  name === "system" ? name : <Link to={`/agents/${name}` as never}>{name}</Link>;

/** The answers that were offered. The digits choose, while no other decision is on the page. */
export function Decision({
  letter,
  options,
}: {
  letter: Pick<Letter, "id" | "from" | "subject">;
  options: readonly string[];
}) {
  const { decide, whyNot } = useMailActions();
  const [note, setNote] = useState("");
  useCommands(
    "Decision",
    options.slice(0, 9).map((option, at) => ({
      id: `decision.${letter.id}.${at}`,
      label: `${option} (${letter.subject})`,
      keys: String(at + 1),
      run: () => void decide(letter.id, option, note),
      disabled: whyNot,
    })),
  );
  return (
    <div className={css.decision}>
      <div className={css.options}>
        {options.map((option, at) => (
          <Button key={option} whyNot={whyNot} onClick={() => void decide(letter.id, option, note)}>
            <kbd>{at + 1}</kbd> {option}
          </Button>
        ))}
      </div>
      <TextField label="Note with the decision" value={note} onChange={setNote} />
    </div>
  );
}

/** Why the message was not delivered, and the two things that can be done. */
function DeadLetter({ letter }: { letter: Letter }) {
  const { retry, redirect, whyNot } = useMailActions();
  const { agents = [] } = useAgents();
  const [to, setTo] = useState("");
  const live = agents.filter(({ running, name }) => running && name !== letter.from).map(({ name }) => name);
  return (
    <>
      {letter.deliveries
        .filter(({ state }) => state === "dead")
        .map((delivery) => (
          <div key={delivery.to} className={css.dead}>
            <p>
              {delivery.to} never got it: {delivery.lastError ?? "no error was recorded"} (attempt {delivery.attempts}).
            </p>
            <div className={css.options}>
              <Button whyNot={whyNot} onClick={() => void retry(letter.id, delivery.to)}>
                Send again
              </Button>
              <TextField label="Give it to" value={to} onChange={setTo} options={["operator", ...live]} />
              <Button
                whyNot={whyNot ?? (to.trim() === "" ? "Name the reader first" : undefined)}
                onClick={() => void redirect(letter.id, to.trim())}
              >
                Redirect
              </Button>
            </div>
          </div>
        ))}
    </>
  );
}
