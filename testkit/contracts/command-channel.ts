import { describe, expect, test } from "bun:test";
import type { CommandChannel } from "../../src/ports/command-channel.ts";
import type { TestProject } from "../project.ts";

export interface ChannelUnderTest {
  readonly project: TestProject;
  readonly channel: CommandChannel;
}

/** What every command channel promises. `use` makes one on a fresh project and clears up after it. */
export function commandChannelContract(
  name: string,
  use: (work: (world: ChannelUnderTest) => Promise<void>) => Promise<void>,
): void {
  const create = (id: string) => ({ name: "task.create", request: { title: `Task ${id}`, id } });
  const tasks = (project: TestProject) => project.read((tx) => tx.tasks.ids());

  describe(`the ${name} command channel`, () => {
    test("runs a use case as the operator when there is no token", () =>
      use(async ({ project, channel }) => {
        expect(await channel.call(create("T1"))).toMatchObject({ ok: true });
        expect(await tasks(project)).toEqual(["T1"]);
        const [event] = await project.read((tx) => tx.events.after(0, 1));
        expect(event).toMatchObject({ source: "operator", type: "task_created" });
      }));

    test("a refusal is a value and leaves no trace", () =>
      use(async ({ project, channel }) => {
        const before = await project.read((tx) => tx.events.last());
        const refused = await channel.call({
          name: "agent.sling",
          request: { taskId: "T9", capability: "builder", files: [], environment: {} },
        });
        expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-found", noun: "task", id: "T9" } });
        expect(await project.read((tx) => tx.events.last())).toBe(before);
        expect(await project.read((tx) => tx.runs.list(5))).toEqual([]);
      }));

    test("a token nobody gave out speaks for nobody, and the attempt is on record", () =>
      use(async ({ project, channel }) => {
        const refused = await channel.call({ ...create("T1"), token: "made-up" });
        expect(refused).toEqual({ ok: false, refusal: { kind: "unknown-token" } });
        expect(await tasks(project)).toEqual([]);
        const [entry] = await project.read((tx) => tx.audit.list(1));
        expect(entry).toMatchObject({ action: "task.create", refused: true });
      }));

    test("twenty calls at once all act, each once", () =>
      use(async ({ project, channel }) => {
        const ids = Array.from({ length: 20 }, (_, i) => `T${i}`);
        const answers = await Promise.all(ids.map((id) => channel.call(create(id))));
        expect(answers.every((answer) => answer.ok)).toBe(true);
        expect((await tasks(project)).toSorted()).toEqual(ids.toSorted());
      }));

    test("large requests and replies arrive whole", () =>
      use(async ({ channel }) => {
        const description = "ä".repeat(300_000);
        await channel.call({ name: "task.create", request: { title: "Long", id: "T1", description } });
        const shown = await channel.call({ name: "task.show", request: { id: "T1" } });
        expect(JSON.stringify(shown)).toContain(description);
      }));
  });
}
