import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testWithCli } from "../../testkit/agent-clis/installed.ts";
import { claudeProject, conversation, scripted, shellOf, textOf } from "../../testkit/claude.ts";
import { startFakeModel } from "../../testkit/fake-model/server.ts";
import { ranTurns, untilTurns } from "../../testkit/lifecycle.ts";

/** What a person may have in their own settings; none of it may keep an agent from its work. */
const ofPerson = { permissions: { disableBypassPermissionsMode: "disable", defaultMode: "plan" } };

for (const cli of ["claude", "claude-2.1.197"] as const) {
  testWithCli(
    cli,
    `${cli} needs no mode that settings forbid, has only the tools of agents, and reads a role text that changed`,
    async (binDir) => {
      await using model = startFakeModel();
      await using project = await claudeProject(binDir);
      mkdirSync(join(project.home, ".claude"));
      writeFileSync(join(project.home, ".claude/settings.json"), JSON.stringify(ofPerson));
      const first = scripted(
        { shell: "echo hello > greeting.txt" },
        { tool: "Read", input: { file_path: join(project.root, "README.md") } },
        { tool: "mcp__overstory__checkpoint", input: { progress: "I have begun" } },
        { shell: "ov mail send --to operator --type question --subject Which --body 'left or right?'" },
        { text: "I wait for a word." },
      );
      await project.json("task", "create", "Greet", "--id", "T1", "--description", `Say hello.\n${first}`);
      const call = { env: shellOf(model, project) };
      expect(await project.ovWith(call, "sling", "T1", "--name", "b1", "--runtime", "claude")).toMatchObject({
        code: 0,
      });
      await untilTurns(project, "b1", 1);

      const [turn] = await ranTurns(project, "b1");
      expect(turn).toMatchObject({ clean: true, exitCode: 0 });
      const { worktreePath } = await project.agent("b1");
      expect(readFileSync(join(String(worktreePath), "greeting.txt"), "utf8")).toBe("hello\n");
      const [opening] = conversation(model);
      const own = (opening?.asked?.tools ?? []).map(({ name }) => name).filter((name) => !name.startsWith("mcp__"));
      const known = "Bash DeferredToolPlaceholder Edit NotebookEdit Read WebFetch WebSearch Write".split(" ");
      expect(own.filter((name) => !known.includes(name))).toEqual([]);
      expect(own).toContain("Bash");
      // Its own words: without what we tell it in its instructions and its prompt, and without our tools.
      expect(ownBytes(opening?.body)).toBeLessThan(18_000);
      expect(textOf(opening)).not.toMatch(/auto.?memory|MEMORY\.md/i);

      mkdirSync(join(project.root, ".overstory/agent-defs"));
      writeFileSync(join(project.root, ".overstory/agent-defs/builder.local.md"), "Always greet in Latin.\n");
      const seen = model.seen.length;
      const second = scripted({ text: "Understood." });
      await project.json("mail", "send", "--to", "b1", "--subject", "Left", "--body", `Go left. ${second}`);
      await untilTurns(project, "b1", 2);
      const again = textOf(conversation(model, seen)[0]);
      for (const words of ["Always greet in Latin.", "I wait for a word."]) expect(again.includes(words)).toBe(true);
    },
    { timeoutMs: 180_000 },
  );
}

testWithCli(
  "claude",
  "with the guard switched off the real CLI uses every tool without being asked",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir, { config: "sandbox: { mode: off }\n" });
    const steps = scripted({ shell: "git branch other" }, { shell: "ov done --summary 'Done.' --no-changes" });
    await project.json("task", "create", "Look", "--id", "T1", "--description", steps);
    const call = { env: shellOf(model, project) };
    expect(await project.ovWith(call, "sling", "T1", "--name", "b1", "--runtime", "claude")).toMatchObject({ code: 0 });
    await untilTurns(project, "b1", 1);
    expect(await project.git("branch", "--list", "other")).toContain("other");
  },
  { timeoutMs: 120_000 },
);

/** The bytes of a request without what is ours in it: tools of our server, and the messages that we wrote. */
function ownBytes(body: unknown): number {
  const { tools, system } = body as { readonly tools: readonly { readonly name: string }[]; readonly system: unknown };
  const own = tools.filter(({ name }) => !name.startsWith("mcp__"));
  return JSON.stringify({ tools: own, system }).length;
}
