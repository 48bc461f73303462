import { describe, expect, test } from "bun:test";
import type { CommandChannel } from "../../src/ports/command-channel.ts";
import type { TestProject } from "../project.ts";

export interface ChannelUnderTest {
  readonly project: TestProject;
  readonly channel: CommandChannel;
  /** What this channel's callers prove themselves with; none for the operator's own. */
  readonly token?: string;
}

/** What every command channel promises. `use` makes one on a fresh project and clears up after it. */
export function commandChannelContract(
  name: string,
  use: (work: (world: ChannelUnderTest) => Promise<void>) => Promise<void>,
): void {
  const as = (token: string | undefined) => (token === undefined ? {} : { token });
  const create = (id: string, token?: string) => ({
    name: "task.create",
    request: { title: `Task ${id}`, id },
    ...as(token),
  });
  const tasks = (project: TestProject) => project.read((tx) => tx.tasks.ids());

  describe(`the ${name} command channel`, () => {
    test("runs a use case as whoever its caller proves to be", () =>
      use(async ({ project, channel, token }) => {
        expect(await channel.call(create("T1", token))).toMatchObject({ ok: true });
        expect(await tasks(project)).toEqual(["T1"]);
        const [event] = await project.read((tx) => tx.events.after(0, 1));
        expect(event).toMatchObject({ source: token === undefined ? "operator" : "agent", type: "task_created" });
      }));

    test("a refusal is a value and leaves no trace", () =>
      use(async ({ project, channel, token }) => {
        const before = await project.read((tx) => tx.events.last());
        const refused = await channel.call({
          name: "agent.sling",
          request: { taskId: "T9", capability: "builder", files: [], environment: {} },
          ...as(token),
        });
        expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-found", noun: "task", id: "T9" } });
        expect(await project.read((tx) => tx.events.last())).toBe(before);
        expect(await project.read((tx) => tx.agents.byName("builder-t9"))).toBeUndefined();
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
      use(async ({ project, channel, token }) => {
        const ids = Array.from({ length: 20 }, (_, i) => `T${i}`);
        const answers = await Promise.all(ids.map((id) => channel.call(create(id, token))));
        expect(answers.every((answer) => answer.ok)).toBe(true);
        expect((await tasks(project)).toSorted()).toEqual(ids.toSorted());
      }));

    test("large requests and replies arrive whole", () =>
      use(async ({ channel, token }) => {
        const body = "ä".repeat(300_000);
        await channel.call({ name: "task.create", request: { title: "Long", id: "T1" }, ...as(token) });
        await channel.call({ name: "spec.write", request: { taskId: "T1", body }, ...as(token) });
        const shown = await channel.call({ name: "spec.read", request: { taskId: "T1" }, ...as(token) });
        expect(JSON.stringify(shown)).toContain(body);
      }));
  });
}
