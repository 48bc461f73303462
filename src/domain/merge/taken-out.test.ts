import { expect, test } from "bun:test";
import { takenOut, takenOutWords, type WordAboutBranch } from "./taken-out.ts";

/** Written oldest first, as it happened: `land 1`, `undo 1`, `redo 1`. The commit has the name of the word. */
const history = (...words: readonly string[]): readonly WordAboutBranch[] =>
  words
    .map((word): WordAboutBranch => {
      const [verb = "", id = ""] = word.split(" ");
      const says = verb === "land" ? "landed" : verb === "undo" ? "taken out" : "brought back";
      return { says, commit: word, queueId: Number(id), opId: `op-${word}` };
    })
    .toReversed();

const cases: readonly (readonly [what: string, words: readonly string[], out: readonly string[]])[] = [
  ["nothing happened", [], []],
  ["landed", ["land 1"], []],
  ["landed and undone", ["land 1", "undo 1"], ["undo 1"]],
  ["the undo undone", ["land 1", "undo 1", "redo 1"], []],
  ["the same again", ["land 1", "undo 1", "redo 1", "undo 1 again"], ["undo 1 again"]],
  ["landed again", ["land 1", "undo 1", "land 2"], []],
  ["landed again and undone", ["land 1", "undo 1", "land 2", "undo 2"], ["undo 2"]],
  ["of two landings the later", ["land 1", "land 2", "undo 2"], ["undo 2"]],
  ["of two landings the earlier", ["land 1", "land 2", "undo 1"], ["undo 1"]],
  ["both, the last taken out first", ["land 1", "land 2", "undo 2", "undo 1"], ["undo 1", "undo 2"]],
  ["both, and one is back", ["land 1", "land 2", "undo 2", "undo 1", "redo 1"], ["undo 2"]],
];

test.each(cases)("%s", async (_, words, out) => {
  const found = await takenOut(history(...words), async () => true);
  expect(found.map(({ by }) => by)).toEqual([...out]);
});

test("only what the target has in its history counts there", async () => {
  const words = history("land 1", "undo 1", "land 2");
  const without = async (...absent: readonly string[]) =>
    (await takenOut(words, async (commit) => !absent.includes(commit))).map(({ by }) => by);
  expect(await without("land 2")).toEqual(["undo 1"]);
  expect(await without("land 2", "undo 1")).toEqual([]);
});

test("what was taken out names the commit that had landed it", async () => {
  const [found] = await takenOut(history("land 1", "undo 1"), async () => true);
  expect(found).toEqual({ by: "undo 1", opId: "op-undo 1", queueId: 1, landedBy: "land 1" });
});

test("the words for a person name the operation, while the last thing that happened was taking it out", () => {
  expect(takenOutWords(history("land 1", "undo 1"))).toBe("it landed and was taken out again (op-undo 1)");
  expect(takenOutWords(history("land 1", "undo 1", "redo 1"))).toBeUndefined();
  expect(takenOutWords([])).toBeUndefined();
});
