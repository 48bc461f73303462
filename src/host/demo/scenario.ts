import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { DemoRequest } from "../../ports/demo-stage.ts";
import { type Feature, features, moreFeature } from "./features.ts";

export interface DemoPlan {
  readonly features: readonly Feature[];
  /** The builder whose program is killed once. */
  readonly victim: string;
  /** The lead that sends a scout first. */
  readonly scoutedBy: string;
}

export function planOf({ agents, seed }: Pick<DemoRequest, "agents" | "seed">): DemoPlan {
  const more = Math.max(0, agents - features.length);
  const all = [...features, ...Array.from({ length: more }, (_, at) => moreFeature(at + 1))];
  const victim = all[Math.abs(seed) % all.length]?.builder ?? "ben";
  return { features: all, victim, scoutedBy: seed % 2 === 0 ? "lead-ledger" : "lead-output" };
}

/** Who does what, for the scripted agent. JSON is YAML. */
export function scenarioOf(plan: DemoPlan, partsDir: string): string {
  const part = (name: string, ...words: string[]): object => ({
    shell: ["node", exactShellWord(`${partsDir}/${name}.mjs`), ...words].join(" "),
  });
  return JSON.stringify([
    { when: { capability: "coordinator" }, do: [{ think: "What is left to do?" }, part("coordinator")] },
    { when: { capability: "lead" }, do: [{ think: "Who has finished, and what comes next?" }, part("lead")] },
    {
      when: { capability: "scout" },
      do: [
        { tool: { name: "Grep", input: { pattern: "export function" }, output: "src/ledger.js, src/money.js" } },
        { ov: ["done", "--summary", "new functions go to the end of src/ledger.js; money.js formats"] },
      ],
    },
    {
      when: { agent: plan.victim, attempt: 1 },
      do: [
        { say: "I will start." },
        { edit: { file: "half-written.js", write: "export const half =" } },
        { kill: "SIGKILL" },
      ],
    },
    {
      when: { capability: "builder" },
      do: [
        { shell: "rm -f half-written.js" },
        part("builder", "$(git merge-base HEAD main)"),
        { ov: ["done", "--summary", "$${task} works and is tested".replace("$$", "$")] },
      ],
    },
    { when: { capability: "reviewer" }, do: [part("reviewer")] },
  ]);
}
