import { expect } from "bun:test";
import { testWithCli } from "../../testkit/agent-clis/installed.ts";
import { claudeProject, scripted, shellOf } from "../../testkit/claude.ts";
import type { Step } from "../../testkit/fake-model/script.ts";
import { startFakeModel } from "../../testkit/fake-model/server.ts";
import { eventsOf, untilAgent } from "../../testkit/lifecycle.ts";

const cases = [
  {
    promise: "a call that the hook denies again and again ends the turn of the real CLI",
    config: "turn:\n  maxSameFailures: 3\n",
    commands: Array.from({ length: 8 }, () => "git push"),
    denials: 3,
    says: "the same call failed in the same way 3 times in a row (Bash: git push)",
  },
  {
    promise: "different calls that the hook denies one after the other end the turn of the real CLI",
    config: "turn:\n  maxDenials: 4\n",
    commands: ["git push", "git push origin x", "git stash", "sudo ls", "git tag x", "git reset --hard", "git gc"],
    denials: 4,
    says: "4 calls of tools in a row were denied, the last one by the rule machine",
  },
];

for (const { promise, config, commands, denials, says } of cases) {
  testWithCli(
    "claude",
    promise,
    async (binDir) => {
      await using model = startFakeModel();
      await using project = await claudeProject(binDir, { config });
      const steps: readonly Step[] = [...commands.map((shell) => ({ shell })), { text: "I give up." }];
      await project.json("task", "create", "Push", "--id", "T1", "--description", `Push. ${scripted(...steps)}`);
      const call = { env: shellOf(model, project) };
      const words = ["T1", "--name", "b1", "--capability", "builder", "--runtime", "claude"];
      expect(await project.ovWith(call, "sling", ...words)).toMatchObject({ code: 0 });
      await untilAgent(project, "b1", "zombie/crashed", "zombie/failed", "zombie/hopeless");
      const agent = await project.agent("b1");
      const [turn] = await project.read((tx) => tx.turns.listFor(agent.id));
      expect(turn).toMatchObject({ failure: "loop", error: expect.stringContaining(says) });
      expect((await eventsOf(project, "guard_denied")).length).toBeGreaterThanOrEqual(denials);
      const told = await project.read((tx) => tx.messages.list({ to: "operator" }));
      expect(told.some(({ body }) => body.includes("goes round in circles"))).toBe(true);
    },
    { timeoutMs: 120_000 },
  );
}
