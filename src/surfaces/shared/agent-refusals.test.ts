import { expect, test } from "bun:test";
import { agentWords } from "./agent-refusals.ts";

test("a refusal for files of others counts the pairs that it does not name, and its command has every file", () => {
  const all = Array.from({ length: 31 }, (_, at) => ({
    owner: "b2",
    wanted: `f${at}.ts`,
    owned: `f${at}.ts`,
    shared: true,
  }));
  const [first] = all;
  if (first === undefined) throw new Error("there is no pair");
  const { message, hint } = agentWords({ kind: "scope-overlap", ...first, all });
  expect(message).toContain('"b2" shares f29.ts, and 1 more; ');
  expect(hint).toContain("f29.ts,f30.ts");
});

test("a refused capability names who may start it, to those who may choose a parent", () => {
  const refusal = { kind: "may-not-spawn", parent: "operator", may: ["lead", "scout", "builder"] } as const;
  const hint = (capability: string) => agentWords({ ...refusal, capability }).hint;
  expect(hint("reviewer")).toContain(
    "a lead may start a reviewer: ov sling <task> --capability reviewer --parent <name>",
  );
  expect(hint("orchestrator")).toContain("an orchestrator is started with: ov orchestrator start");
  expect(agentWords({ ...refusal, parent: "b1", capability: "reviewer" }).hint).not.toContain("--parent");
});

test("a limit is raised where it was set", () => {
  const hint = (limitFrom: Parameters<typeof limited>[0]) => agentWords(limited(limitFrom)).hint;
  expect(hint({ key: "agents.maxDepth", source: null })).toContain("ov config set agents.maxDepth <n>");
  expect(hint({ key: "agents.maxDepth", source: ".overstory/config.local.yaml" })).toContain("<n> --local");
  expect(hint({ key: "agents.maxDepth", source: "OVERSTORY__AGENTS__MAX_DEPTH" })).toContain(
    "set OVERSTORY__AGENTS__MAX_DEPTH to more",
  );
});

const limited = (limitFrom: { readonly key: string; readonly source: string | null }) =>
  ({ kind: "too-deep", depth: 3, limit: 2, limitFrom }) as const;

test("files that are shared by all may be shared too; files with an owner are left to a last task", () => {
  const overlap = (owner: string, shared: boolean) => ({ wanted: "src", owned: `src/${owner}.ts`, owner, shared });
  const hint = (first: ReturnType<typeof overlap>, ...more: readonly (typeof first)[]) =>
    agentWords({ kind: "scope-overlap", ...first, all: [first, ...more] }).hint;
  expect(hint(overlap("b1", true), overlap("b2", true))).toContain('--shares "src/b1.ts,src/b2.ts"');
  expect(hint(overlap("b1", true), overlap("b2", false))).toContain("one last task that waits for b2;");
  const owned = overlap("b2", false);
  const toShare = { own: ["A.md", "src/b2.ts"], others: [{ task: "T2", shares: ["src/b2.ts"] }] };
  expect(agentWords({ kind: "scope-overlap", ...owned, all: [owned], toShare }).hint).toStartWith(
    'let all of them share the files: ov task update T2 --shares "src/b2.ts", then ov sling <task> --shares "A.md,src/b2.ts"; or choose other files; or leave',
  );
});
