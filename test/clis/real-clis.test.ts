import { describe, expect } from "bun:test";
import { join } from "node:path";
import { type AgentCli, testWithCli } from "../../testkit/agent-clis/installed.ts";
import type { Recipe } from "../../testkit/agent-clis/recipe.ts";
import { recipes } from "../../testkit/agent-clis/recipes.ts";
import { type CliTurn, type CliWorld, cliWorld } from "../../testkit/agent-clis/world.ts";
import { conversation, scripted, textOf } from "../../testkit/claude.ts";
import type { Usage } from "../../testkit/fake-model/script.ts";

/** `npm run test:real` tries everything; `npm test` only whether each CLI can still be driven at all. */
const all = process.env.REAL_CLIS === "full";
const timeoutMs = 300_000;

describe.each(Object.keys(recipes) as AgentCli[])("%s", (cli) => {
  const recipe: Recipe = recipes[cli];
  const promise = (name: string, body: (world: CliWorld) => Promise<void>, hasServer = false): void => {
    const program = cli.split("-")[0] ?? "";
    const inWorld = async (binDir: string): Promise<void> => {
      await using world = await cliWorld(join(binDir, program), recipe, { hasServer });
      await body(world);
    };
    testWithCli(cli, name, inWorld, { timeoutMs });
  };

  promise("answers, executes a call in its worktree, and says what it used", async (world) => {
    expect(await world.version()).toContain(recipe.version);
    const commit = "echo hello > greeting.txt && git add greeting.txt && git commit --quiet -m 'Add a greeting'";
    const script = scripted(
      { text: "I will write.", shell: commit, usage: { cacheRead: 30, cacheWrite: 10 } },
      { text: "All done.", pieces: 3 },
    );
    const turn = await world.turn(`Please greet. ${script}`);
    expect(turn, turn.output).toMatchObject({ exitCode: 0, text: "All done.", error: undefined });
    expect(await world.git("log", "--format=%s", "main..work", "--", "greeting.txt")).toBe("Add a greeting\n");
    expect(turn.usage).toEqual(counted(recipe, { input: 200, output: 40, cacheRead: 30, cacheWrite: 10 }));
    const requests = conversation(world.model);
    expect(requests.map(({ asked }) => asked?.dialect)).toEqual([recipe.dialect, recipe.dialect]);
    expect(JSON.stringify(requests[0]?.headers)).toContain("sk-fake-0123456789");
  });

  if (!all) return;

  promise("goes on with its session in another process", async (world) => {
    const first = await world.turn(`Remember the word heron. ${scripted({ text: "I will." })}`);
    expect(first, first.output).toMatchObject({ exitCode: 0, text: "I will." });
    const second = await world.turn(
      `Which word? ${scripted({ text: "Heron.", usage: { input: 50 } })}`,
      session(first),
    );
    expect(second, second.output).toMatchObject({ exitCode: 0, text: "Heron.", session: first.session });
    expect(textOf(conversation(world.model).at(-1))).toContain("Remember the word heron.");
    const input = recipe.usageIsOf === "session" ? 150 : 50;
    expect(second.usage).toMatchObject({ input, output: recipe.usageIsOf === "session" ? 40 : 20 });
  });

  promise("executes all calls of one answer, and each answer is one turn", async (world) => {
    const calls = [{ shell: "echo one > one.txt" }, { shell: "echo two > two.txt" }];
    const turn = await world.turn(
      `Write both. ${scripted({ calls }, { shell: "cat one.txt two.txt" }, { text: "Both." })}`,
    );
    expect(turn, turn.output).toMatchObject({ exitCode: 0, text: "Both." });
    expect(await world.git("status", "--short")).toBe("?? one.txt\n?? two.txt\n");
    expect(textOf(conversation(world.model).at(-1))).toContain("one\ntwo");
    expect(conversation(world.model)).toHaveLength(3);
  });

  if (recipe.nameOfTool !== null) {
    const calls = async (world: CliWorld): Promise<void> => {
      const call = { tool: "mcp__lab__note", input: { text: "heron" } };
      const turn = await world.turn(`Note it. ${scripted(call, { text: "Noted." })}`);
      expect(turn, turn.output).toMatchObject({ exitCode: 0, text: "Noted." });
      const [first, second] = conversation(world.model);
      const names = first?.asked?.tools.map(({ name, namespace }) => [namespace, name].filter(Boolean).join("__"));
      expect(names).toContain(recipe.nameOfTool ?? "");
      expect(world.notes()).toBe("heron\n");
      expect(textOf(second)).toContain("Noted: heron");
    };
    promise("calls the tool of an MCP server, and its model gets the answer", calls, true);
  }

  promise("says that its key was refused", async (world) => {
    const refused = { status: 401, times: 50, message: "key 4711 is unknown" };
    const turn = await world.turn(`Please greet. ${scripted(refused, { text: "never" })}`);
    expect(turn, turn.output).toMatchObject({ exitCode: recipe.exitWhenRefused });
    // Some repeat the words of the API, some have their own.
    expect(turn.error, turn.output).toMatch(/4711|401/);
  });

  promise("gets over an API that fails now and then, is overloaded, or cuts its answer", async (world) => {
    const [failed, overloaded, cut] = [{ status: 500 }, { status: 529 }, { cut: "stream" as const }];
    const steps = scripted(failed, { shell: "true" }, overloaded, { shell: "true" }, cut, { text: "Hello." });
    const turn = await world.turn(`Please greet. ${steps}`);
    expect(turn, turn.output).toMatchObject({ exitCode: 0, error: undefined });
    expect(turn.text).toEndWith("Hello.");
    expect(conversation(world.model)).toHaveLength(6);
  });
});

const counted = ({ countsCacheWrites }: Recipe, usage: Usage): Usage =>
  countsCacheWrites ? usage : { ...usage, input: usage.input + usage.cacheWrite, cacheWrite: 0 };

function session(turn: CliTurn): string {
  if (turn.session === undefined) throw new Error(`no session was named: ${turn.output}`);
  return turn.session;
}
