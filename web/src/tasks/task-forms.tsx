import { useState } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import { useTasks } from "../api/resources.ts";
import type { Task } from "../api/types.ts";
import { useDraft } from "../state/drafts.ts";
import { Button } from "../ui/controls.tsx";
import { asOptions, Form, Select, TextArea, TextField } from "../ui/fields.tsx";
import { Overlay } from "../ui/overlays.tsx";
import { Empty, Loading } from "../ui/states.tsx";
import { closeTaskPanel, openTaskPanel, useTaskPanel } from "./task-panels.ts";

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
  const [files, setFiles] = useState("");
  const [after, setAfter] = useState("");
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
        ...(files.trim() === "" ? {} : { files: parts(files) }),
        ...(after.trim() === "" ? {} : { blockedBy: parts(after) }),
      },
      done: `Made: ${title.text.trim()}.`,
    });
    if (!made) return;
    title.clear();
    description.clear();
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
      <TextField label="Files that it owns" value={files} onChange={setFiles} hint="src/auth/**, test/auth.test.ts" />
      <TextField
        label="Begins after"
        value={after}
        onChange={setAfter}
        hint="Ids of tasks"
        options={data?.items.filter(({ column }) => column !== "done").map(({ id }) => id) ?? []}
      />
    </Form>
  );
}

/** Every agent has a task, so it begins with a task that no other agent has. */
function NewAgent() {
  const { data } = useTasks();
  const [chosen, setChosen] = useState("");
  const ready = data?.items.filter(({ column }) => column === "ready") ?? [];
  const task = ready.find(({ id }) => id === chosen) ?? ready[0];
  if (data === undefined) return <Loading what="the tasks" />;
  if (task === undefined)
    return (
      <Empty
        why="No task is ready. An agent works on a task, so make one first."
        action={<Button onClick={() => openTaskPanel({ kind: "new" })}>New task</Button>}
        command='ov sling "..."'
      />
    );
  return (
    <>
      <Select
        label="Task"
        value={task.id}
        onChange={setChosen}
        options={ready.map(({ id, title }) => ({ value: id, label: `${id}: ${title}` }))}
      />
      <Sling key={task.id} task={task} />
    </>
  );
}

const roles = ["builder", "lead", "scout", "reviewer"];

function Sling({ task }: { task: Task }) {
  const act = useAct();
  const whyNot = useWhyNot();
  const [capability, setCapability] = useState("builder");
  const [name, setName] = useState("");
  const [model, setModel] = useState("");
  const start = async (): Promise<void> => {
    if (whyNot !== undefined) return;
    const started = await act({
      what: `sling an agent on ${task.id}`,
      method: "POST",
      path: "/api/agents",
      body: {
        taskId: task.id,
        capability,
        ...(task.runId === null ? {} : { run: task.runId }),
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(model.trim() === "" ? {} : { model: model.trim() }),
      },
      done: `A ${capability} starts on ${task.id}.`,
    });
    if (started) closeTaskPanel();
  };
  return (
    <Form
      onSubmit={() => void start()}
      buttons={
        <>
          <Button onClick={closeTaskPanel}>Cancel</Button>
          <Button look="primary" type="submit" whyNot={whyNot}>
            Start agent
          </Button>
        </>
      }
    >
      <p>{task.title}</p>
      <Select label="As" value={capability} onChange={setCapability} options={asOptions(roles)} />
      <TextField label="Name" value={name} onChange={setName} hint="Made from the task when empty" autoFocus />
      <TextField label="Model" value={model} onChange={setModel} hint="As configured when empty" />
      <p>
        It gets the variables of the engine, not those of a shell. Files:{" "}
        {task.files.length === 0 ? "any" : task.files.join(", ")}.
      </p>
    </Form>
  );
}
