import { useState } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import { ApiError, change } from "../api/client.ts";
import { useAgents, useTasks } from "../api/resources.ts";
import type { Task } from "../api/types.ts";
import { useDraft } from "../state/drafts.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/controls.tsx";
import { AboveForm, asOptions, Form, Select, TextArea, TextField } from "../ui/fields.tsx";
import { Overlay } from "../ui/overlays.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { Loading } from "../ui/states.tsx";
import { closeTaskPanel, useTaskPanel } from "./task-panels.ts";

/** The panels of tasks, over whatever page shows one. */
export function TaskPanels() {
  const panel = useTaskPanel();
  return (
    <>
      <Overlay title="New task" shape="panel" open={panel?.kind === "new"} onClose={closeTaskPanel}>
        <NewTask />
      </Overlay>
      <Overlay
        title={panel?.kind === "sling" ? `Give ${panel.task.id} to an agent` : ""}
        shape="panel"
        open={panel?.kind === "sling"}
        onClose={closeTaskPanel}
      >
        {panel?.kind === "sling" ? <Sling task={panel.task} /> : null}
      </Overlay>
      <Overlay title="New agent" shape="panel" open={panel?.kind === "agent"} onClose={closeTaskPanel}>
        <NewAgent />
      </Overlay>
    </>
  );
}

const parts = (text: string): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== "");

function NewTask() {
  const act = useAct();
  const offline = useWhyNot();
  const { data } = useTasks();
  const title = useDraft("task.title");
  const description = useDraft("task.description");
  const [priority, setPriority] = useState("2");
  const [type, setType] = useState("task");
  const files = useDraft("task.files");
  const after = useDraft("task.after");
  const whyNot = offline ?? (title.text.trim() === "" ? "It has no title yet" : undefined);
  const create = async (): Promise<void> => {
    if (whyNot !== undefined) return;
    const made = await act({
      what: "make the task",
      method: "POST",
      path: "/api/tasks",
      body: {
        title: title.text.trim(),
        type,
        priority: Number(priority),
        ...(description.text.trim() === "" ? {} : { description: description.text }),
        ...(files.text.trim() === "" ? {} : { files: parts(files.text) }),
        ...(after.text.trim() === "" ? {} : { blockedBy: parts(after.text) }),
      },
      done: `Made: ${title.text.trim()}.`,
    });
    if (!made) return;
    for (const draft of [title, description, files, after]) draft.clear();
    closeTaskPanel();
  };
  return (
    <Form
      onSubmit={() => void create()}
      buttons={
        <>
          <Button onClick={closeTaskPanel}>Keep as draft</Button>
          <Button look="primary" type="submit" whyNot={whyNot}>
            Make task
          </Button>
        </>
      }
    >
      <TextField label="Title" value={title.text} onChange={title.setText} autoFocus />
      <TextArea label="What is to be done" value={description.text} onChange={description.setText} rows={8} />
      <Select
        label="Priority"
        value={priority}
        onChange={setPriority}
        options={["0, most urgent", "1", "2, usual", "3", "4, least"].map((label, at) => ({
          value: String(at),
          label,
        }))}
      />
      <Select label="Type" value={type} onChange={setType} options={asOptions(["task", "bug", "feature", "epic"])} />
      <TextField
        label="Files that it owns"
        value={files.text}
        onChange={files.setText}
        hint="src/auth/**, test/auth.test.ts"
      />
      <TextField
        label="Begins after"
        value={after.text}
        onChange={after.setText}
        hint="Ids of tasks"
        options={data?.items.filter(({ column }) => column !== "done").map(({ id }) => id) ?? []}
      />
    </Form>
  );
}

/** Every agent has a task: a ready one that no other agent has, or one that is made of what is to be done. */
function NewAgent() {
  const { data } = useTasks();
  const [chosen, setChosen] = useState("");
  if (data === undefined) return <Loading what="the tasks" />;
  const ready = data.items.filter(({ column }) => column === "ready");
  const task = ready.find(({ id }) => id === chosen);
  return (
    <>
      <AboveForm>
        <Select
          label="Task"
          value={task?.id ?? ""}
          onChange={setChosen}
          options={[
            { value: "", label: "a new one, told in words" },
            ...ready.map(({ id, title }) => ({ value: id, label: `${id}: ${title}` })),
          ]}
        />
      </AboveForm>
      <Sling key={task?.id ?? ""} task={task} />
    </>
  );
}

const roles = ["builder", "lead", "scout", "reviewer", "merger"];

/** What another agent owns, in the words of the server. */
const meetsOthers = (error: ApiError): boolean => Array.isArray(error.details.all) && "owner" in error.details;

function Sling({ task }: { task: Task | undefined }) {
  const whyNot = useWhyNot();
  const { agents = [] } = useAgents();
  const [words, setWords] = useState("");
  const [capability, setCapability] = useState("builder");
  const [name, setName] = useState("");
  const [runtime, setRuntime] = useState("");
  const [model, setModel] = useState("");
  const [parent, setParent] = useState("");
  const [files, setFiles] = useState(task?.files.join(", ") ?? "");
  const [meeting, setMeeting] = useState<ApiError>();
  const [starts, setStarts] = useState(false);
  const subject = task?.id ?? "a new task";
  const why =
    whyNot ??
    (task === undefined && words.trim() === "" ? "It is not said what is to be done" : undefined) ??
    (starts ? "It is being started" : undefined);
  const start = async ({ allowOverlap = false } = {}): Promise<void> => {
    if (why !== undefined) return;
    const given = { name, runtime, model, parent, title: task === undefined ? words : "" };
    setStarts(true);
    try {
      await change("POST", "/api/agents", {
        ...(task === undefined ? {} : { taskId: task.id }),
        ...(task?.runId == null ? {} : { run: task.runId }),
        ...Object.fromEntries(
          Object.entries(given).flatMap(([key, value]) => (value.trim() === "" ? [] : [[key, value.trim()]])),
        ),
        ...(allowOverlap ? { allowOverlap } : {}),
        capability,
        files: parts(files),
      });
      toast(`A ${capability} starts on ${subject}.`);
      closeTaskPanel();
    } catch (error) {
      const told = error instanceof ApiError ? error : undefined;
      if (told !== undefined && meetsOthers(told)) setMeeting(told);
      else
        toast(`Could not sling an agent on ${subject}: ${told?.message ?? String(error)}. ${told?.hint ?? ""}`, {
          failed: true,
        });
    } finally {
      setStarts(false);
    }
  };
  return (
    <Form
      onSubmit={() => void start()}
      buttons={
        <>
          <Button onClick={closeTaskPanel}>Cancel</Button>
          {meeting === undefined ? null : (
            <Button whyNot={why} onClick={() => void start({ allowOverlap: true })}>
              Start all the same
            </Button>
          )}
          <Button look="primary" type="submit" whyNot={why}>
            Start agent
          </Button>
        </>
      }
    >
      {task === undefined ? (
        <TextArea label="What is to be done" value={words} onChange={setWords} rows={4} />
      ) : (
        <p>{withTurns(task.title)}</p>
      )}
      <Select label="As" value={capability} onChange={setCapability} options={asOptions(roles)} />
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        hint="Made from the task when empty"
        autoFocus={task !== undefined}
      />
      <TextField
        label="Files that it owns"
        value={files}
        onChange={(value) => {
          setFiles(value);
          setMeeting(undefined);
        }}
        hint="Any when empty; src/auth/**, test/auth.test.ts"
      />
      {meeting === undefined ? null : (
        <p role="alert" data-tone="attn">
          {meeting.message}.
        </p>
      )}
      <TextField label="Runtime" value={runtime} onChange={setRuntime} hint="As configured when empty" />
      <TextField label="Model" value={model} onChange={setModel} hint="As configured when empty" />
      <TextField
        label="Parent"
        value={parent}
        onChange={setParent}
        hint="You when empty"
        options={agents.filter(({ running }) => running).map((agent) => agent.name)}
      />
      <p>It gets the variables of the engine, not those of a shell.</p>
    </Form>
  );
}
