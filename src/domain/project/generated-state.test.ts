import { describe, expect, test } from "bun:test";
import { generatedState, generatedStates, sealed, sealWord, updateStep } from "./generated-state.ts";

const digest = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");
const written = (body: string): string => sealed(`# ${sealWord}\n${body}\n`, digest);
const stateOf = (found: string | undefined, ships = written("new")) => generatedState({ found, ships }, digest);

describe("a generated text", () => {
  test("that is not there is missing", () => {
    expect(stateOf(undefined)).toBe("missing");
  });

  test("that is what ships is current, with whatever line ends", () => {
    expect(stateOf(written("new"))).toBe("current");
    expect(stateOf(written("new").replaceAll("\n", "\r\n"))).toBe("current");
  });

  test("that is as an earlier version wrote it is outdated", () => {
    expect(stateOf(written("old"))).toBe("outdated");
  });

  test("that a person changed is edited while the same text ships, and diverged once a newer text does", () => {
    expect(stateOf(`${written("new")}mine\n`)).toBe("edited");
    expect(stateOf(`${written("old")}mine\n`)).toBe("diverged");
  });

  test("without a seal is not known to be ours", () => {
    expect(stateOf("mine\n")).toBe("unknown");
    expect(stateOf("")).toBe("unknown");
    expect(stateOf(`${written("new").replace(/ [0-9a-f]{12}/, "")}`)).toBe("unknown");
  });

  test("from before there were seals is outdated, if nobody changed it", () => {
    const rules = [".gitignore", "config.yaml", "README.md", "agent-defs/", "agent-defs/**"];
    const more = ["groups.json", "agent-manifest.json", "hooks.json"];
    const head = "# Shared with everyone who works on this project; all else belongs to this machine alone.";
    const text = [head, "*", ...[...rules, ...more].map((rule) => `!${rule}`), ""].join("\n");
    expect(stateOf(text)).toBe("outdated");
    expect(stateOf(`${text}!mine\n`)).toBe("unknown");
  });
});

test("a file with a person's words is written only with force, and only after a copy", () => {
  const steps = (force: boolean) =>
    Object.fromEntries(generatedStates.map((state) => [state, updateStep(state, { force })]));
  const sure = { missing: "write", current: "none", outdated: "write" } as const;
  expect(steps(false)).toEqual({ ...sure, edited: "keep", diverged: "keep", unknown: "keep" });
  expect(steps(true)).toEqual({ ...sure, edited: "replace", diverged: "replace", unknown: "replace" });
});
