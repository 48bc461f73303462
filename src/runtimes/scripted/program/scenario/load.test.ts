import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadScenario } from "./rule.ts";

const folder = mkdtempSync(join(tmpdir(), "scenario-"));
const path = join(folder, "scenario.yaml");
afterAll(() => rmSync(folder, { recursive: true }));

function load(source: string) {
  writeFileSync(path, source);
  return loadScenario(path);
}

function problems(source: string): readonly string[] {
  const loaded = load(source);
  return loaded.ok ? [] : loaded.refusal.map((problem) => problem.replace(`${path}:`, ""));
}

test("a step knows its word, its line and the defaults of its options", () => {
  const loaded = load("# a comment\n- when: { agent: b* }\n  do:\n    - say: hi\n    - shell: make\n      expect: 2\n");
  expect(loaded.ok && loaded.value).toMatchObject([
    {
      when: { agent: "b*" },
      do: [
        { kind: "say", line: 4, say: "hi" },
        { kind: "shell", line: 5, shell: "make", expect: 2, allowFail: false },
      ],
    },
  ]);
});

test("steps may be shared through an anchor", () => {
  const loaded = load("- { when: { turn: 1 }, do: &work [{ say: hi }] }\n- do: *work\n");
  expect(loaded.ok && loaded.value.map((rule) => rule.do.length)).toEqual([1, 1]);
});

test("numbers may stand where text is meant, as they were typed", () => {
  const loaded = load("- { when: { task: 007 }, do: [{ say: 1.50 }] }");
  expect(loaded.ok && loaded.value).toMatchObject([{ when: { task: "007" }, do: [{ say: "1.50" }] }]);
});

test.each([
  ["rules:\n  - do: []", ['1: "scenario" must be a list']],
  ["- say: hi", ['1: unknown key "say"; known: when, do', '1: "do" is missing']],
  ["- do: [{ say: [a] }]", ['1: "say" must be text; put it in quotes']],
  ["- do:\n    - say:", ['2: "say" must be text; put it in quotes']],
  ["- do: [hang]", ['1: a step is one word and its value, like "say: hello"']],
  ["- do: [{ hang: 5 }]", ['1: "hang" takes no value but true']],
  ["- do: [{ say: a, think: b }]", ['1: two steps in one: "say" and "think"; write two items']],
  ["- do: [{ say: a, expect: 1 }]", ['1: unknown key "expect"; known: say, usage']],
  ["- do: [{ edit: { file: a } }]", ['1: "edit" needs exactly one of write, append, replace']],
  ["- do: [{ edit: { file: a, write: x, append: y } }]", ['1: "edit" needs exactly one of write, append, replace']],
  ["- do: [{ kill: SIGFOO }]", ['1: "kill" must be one of SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGSTOP']],
  ["- do: [{ apiError: { status: 200 } }]", ['1: "status" must be a whole number from 400 to 599']],
  ["- { when: { input: /(/ }, do: [] }", ['1: "input" is not a regular expression']],
  ["- { when: { turn: 0 }, do: [] }", ['1: "turn" must be a whole number of at least 1']],
  ["- do:\n    - exit: 1\n    - say: x", ['3: can never run: the turn ends with "exit" on line 2']],
  ["- do:\n    - say: x\n    - newSessionId: true", ['3: "newSessionId" is about how a turn opens; put it first']],
  ["- do: [{ repeat: { times: 2, do: [{ sya: x }] } }]", ['1: unknown step "sya"']],
  [`- do: [{ tool: { name: T, input: { a: ["\${nope}"] } } }]`, [`1: "input" has an unknown template \${nope}`]],
  ["- do: [{ say: a }]\n- do: [{ sya: b }]\n- do: [{ exit: x }]", ["2: unknown step", '3: "exit" must']],
])("%j is refused line by line", (source, expected) => {
  const found = problems(source);
  expect(found).toHaveLength(expected.length);
  for (const [at, words] of expected.entries()) expect(found[at]).toStartWith(words);
});

test("what is not YAML is refused where it stops making sense", () => {
  expect(problems("- do: []\n- do: [{ say: 'unfinished }]")[0]).toStartWith("2: ");
  expect(problems("")).toEqual(['1: "scenario" must be a list']);
});

test("a file that is not there is a refusal too", () => {
  const loaded = loadScenario(join(folder, "absent.yaml"));
  expect(!loaded.ok && loaded.refusal[0]).toContain("absent.yaml: cannot be read");
});
