import { describe, expect, test } from "bun:test";
import {
  escalate,
  identicalRule,
  linesRule,
  readsAsData,
  resolved,
  skip,
  trivialRule,
} from "../../structured-merge/index.ts";
import {
  climb,
  conflictKinds,
  fingerprintOf,
  type Rung,
  regenerateRung,
  rememberedRung,
  resolutionOf,
  type Triple,
} from "./ladder.ts";

const triple = (sides: Partial<Triple>): Triple => ({
  path: "a.txt",
  base: "1\n",
  ours: "2\n",
  theirs: "3\n",
  kind: "content",
  ...sides,
});

const says = (name: string, answer: Awaited<ReturnType<Rung["attempt"]>>): Rung => ({
  name,
  attempt: async () => answer,
});

describe("climbing", () => {
  test("the first rung that is sure decides, and those before it are told", async () => {
    const rungs = [says("a", skip), says("b", escalate("unsure")), says("c", resolved("c", "x\n"))];
    expect(await climb(rungs, triple({}))).toMatchObject({
      kind: "resolved",
      strategy: "c",
      tried: [{ rung: "b", reason: "unsure" }],
    });
  });

  test("the reason of the last rung that concerned the file is given", async () => {
    const climbed = await climb([says("a", escalate("because")), says("b", skip)], triple({}));
    expect(climbed).toEqual({ kind: "escalate", reason: "because", tried: [{ rung: "a", reason: "because" }] });
  });

  test("a result that looks like a conflict is not believed", async () => {
    const climbed = await climb([says("a", resolved("a", "x\n<<<<<<< HEAD\n"))], triple({}));
    expect(climbed.kind).toBe("escalate");
  });

  test("only conflicts of contents are settled by rule", async () => {
    for (const kind of conflictKinds) {
      const climbed = await climb([says("a", resolved("a", "x\n"))], triple({ kind }));
      expect([kind, climbed.kind]).toEqual([kind, kind === "content" || kind === "add-add" ? "resolved" : "escalate"]);
    }
  });

  test("what is no text, too large or already conflicted is left alone", async () => {
    for (const ours of ["\0", "\uFFFD", "x".repeat(6_000_000), "<<<<<<< a\n>>>>>>> b\n"]) {
      expect((await climb([trivialRule, identicalRule], triple({ ours, theirs: ours }))).kind).toBe("escalate");
    }
  });
});

describe("both sides added the file", () => {
  test("the same contents are one file", async () => {
    const climbed = await climb([trivialRule, identicalRule], triple({ base: null, ours: "x\r\n", theirs: "x\n" }));
    expect(climbed).toMatchObject({ kind: "resolved", content: "x\r\n" });
  });

  test("different contents are not", async () => {
    const climbed = await climb([trivialRule, identicalRule, linesRule], triple({ base: null }));
    expect(climbed.kind).toBe("escalate");
  });
});

describe("generated files", () => {
  test("ours is made again by the command of its kind", async () => {
    const asked: unknown[] = [];
    const rung = regenerateRung(async (request) => {
      asked.push(request);
      return "made\n";
    });
    expect(await rung.attempt(triple({ path: "web/pnpm-lock.yaml" }))).toEqual(resolved("regenerate", "made\n"));
    expect(asked).toMatchObject([
      {
        path: "web/pnpm-lock.yaml",
        content: "2\n",
        command: ["pnpm", "install"].concat(["--lockfile-only", "--ignore-scripts"]),
      },
    ]);
  });

  test("without a way to run commands, or when the command fails, somebody else decides", async () => {
    expect(await regenerateRung().attempt(triple({ path: "Cargo.lock" }))).toMatchObject({ kind: "escalate" });
    const failing = regenerateRung(async () => undefined);
    expect(await failing.attempt(triple({ path: "Cargo.lock" }))).toMatchObject({ kind: "escalate" });
    expect(await regenerateRung().attempt(triple({ path: "notes.lock.md" }))).toBe(skip);
  });
});

describe("remembered resolutions", () => {
  const digest = (text: string): string => text;
  const first = triple({ base: "a\n1\nz\n", ours: "a\n2\nz\n", theirs: "a\n3\nz\n" });
  const later = triple({ base: "a\n1\nz\n", ours: "A\n2\nz\n", theirs: "a\n3\nz\nend\n" });

  test("the same conflict has the same fingerprint wherever the file changed around it", () => {
    const far = { base: "a\nb\n1\nz\n", ours: "A\nb\n2\nz\n", theirs: "a\nb\n3\nz\n" };
    const near = { base: "a\nb\n1\nz\n", ours: "a\nb\n2  \nz\n", theirs: "a\nb\n3\nz\nend\n" };
    expect(fingerprintOf(triple(far), digest)).toBe(fingerprintOf(triple(near), digest));
    expect(fingerprintOf(triple(far), digest)).not.toBe(fingerprintOf({ ...triple(far), path: "b.txt" }, digest));
    expect(fingerprintOf(triple({ ours: "1\n" }), digest)).toBeUndefined();
  });

  test("what was put in place of a conflict is put there again, and nothing else is brought back", async () => {
    const answer = resolutionOf(first, "a\n2 and 3\nz\n");
    expect(answer).toEqual(["2 and 3\n"]);
    const known = new Map([[fingerprintOf(triple({ ...later, ours: "a\n2\nz\n" }), digest), answer]]);
    const rung = rememberedRung({ digest, recall: async (key) => known.get(key), reads: async () => true });
    const now = triple({ base: "a\n1\nz\n", ours: "a\n2\nz\n", theirs: "a\n3\nz\nend\n" });
    expect(await rung.attempt(now)).toEqual(resolved("remembered", "a\n2 and 3\nz\nend\n"));
  });

  test("an answer that does not read as its format is not used", async () => {
    const rung = rememberedRung({ digest, recall: async () => ["x\n"], reads: async () => false });
    expect(await rung.attempt(first)).toMatchObject({ kind: "escalate" });
  });

  test("a data file is read by the parser of its kind, anything else is taken as it is", async () => {
    expect(await readsAsData("a.json", '{"a": 1}')).toBe(true);
    expect(await readsAsData("a.json", '{"a": 1')).toBe(false);
    expect(await readsAsData("a.jsonl", '{"a": 1}\n{')).toBe(false);
    expect(await readsAsData("a.txt", "{")).toBe(true);
  });

  test("a finished file with other changes tells no resolution", () => {
    expect(resolutionOf(first, "b\n2 and 3\nz\n")).toBeUndefined();
  });
});
