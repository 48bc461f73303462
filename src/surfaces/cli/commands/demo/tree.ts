import type { Command } from "../../command.ts";

export const demoCommand: Command = {
  name: "demo",
  summary: "Watch a team of scripted agents finish an objective in a throwaway repository",
  details:
    "No model, no network, no cost. A coordinator, two leads, a scout, four builders and a reviewer improve a small real " +
    "program with tests. On the way one agent's program is killed and goes on, one review fails, two branches conflict " +
    "and are merged by structure, and one branch that breaks the tests only together with another is caught before it " +
    "lands.",
  group: "Setup",
  flags: [
    { name: "keep", summary: "Leave the repository there to look at" },
    { name: "agents", value: "n", type: "integer", min: 4, summary: "Builders to run (default: 4)" },
    { name: "seed", value: "n", type: "integer", min: 0, summary: "Decides who is killed and who scouts" },
  ],
  examples: [
    { line: "ov demo", does: "about twenty seconds" },
    { line: "ov demo --keep --agents 8", does: "with more builders, and the repository stays" },
  ],
  run: async () => (await import("../demo.ts")).demo,
};
