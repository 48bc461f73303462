import { describe, expect, test } from "bun:test";
import {
  type FilterPins,
  type FilterSetting,
  filterProblems,
  filterSentence,
  filtersNamedIn,
  judgeFilters,
} from "./filters.ts";

const users = (name: string, values: Readonly<Record<string, string>>): FilterSetting[] =>
  Object.entries(values).map(([key, value]) => ({ name, key, value, isUsers: true }));
const repositorys = (name: string, values: Readonly<Record<string, string>>): FilterSetting[] =>
  users(name, values).map((setting) => ({ ...setting, isUsers: false }));

const lfs = {
  clean: "git-lfs clean -- %f",
  smudge: "git-lfs smudge -- %f",
  process: "git-lfs filter-process",
  required: "true",
};
const pinned = { ...lfs };

describe("a filter", () => {
  const table: readonly (readonly [string, FilterSetting[], FilterPins, string])[] = [
    ["of the user counts", users("lfs", lfs), {}, "user"],
    [
      "that the repository repeats word for word is the user's",
      [...users("lfs", lfs), ...repositorys("lfs", lfs)],
      {},
      "user",
    ],
    ["of the repository waits for a word", repositorys("lfs", lfs), {}, "unconfirmed"],
    ["of the repository counts once confirmed", repositorys("lfs", lfs), { lfs: pinned }, "confirmed"],
    [
      "that the repository changed later is refused again",
      repositorys("lfs", { ...lfs, clean: "sh -c evil" }),
      { lfs: pinned },
      "changed",
    ],
    [
      "of the user that the repository changes is the repository's",
      [...users("lfs", lfs), ...repositorys("lfs", { smudge: "sh -c evil" })],
      {},
      "unconfirmed",
    ],
    [
      "that got one more key is another one",
      repositorys("lfs", { ...lfs }),
      { lfs: { ...pinned, process: null } },
      "changed",
    ],
    ["that is defined nowhere is missing", [], {}, "missing"],
    ["that is defined nowhere, as confirmed, is done without", [], { lfs: null }, "without"],
    ["that appears after it was confirmed to be absent is refused", repositorys("lfs", lfs), { lfs: null }, "changed"],
  ];
  test.each(table)("%s", (_, settings, pins, standing) => {
    expect(judgeFilters(settings, pins, ["lfs"])).toMatchObject([{ name: "lfs", standing }]);
  });
});

test("only filters that attributes name keep a repository from being used", () => {
  const filters = judgeFilters([...repositorys("planted", lfs), ...repositorys("used", lfs)], {}, ["used", "gone"]);
  const problems = filterProblems(filters, { byRepository: ["used", "gone"], byUser: [] });
  expect(problems.map(({ name, problem }) => [name, problem])).toEqual([
    ["gone", "missing"],
    ["used", "unconfirmed"],
  ]);
});

test("what only the user's attributes name may be missing, but may not be the repository's", () => {
  const filters = judgeFilters(repositorys("taken", lfs), {}, ["absent", "taken"]);
  const problems = filterProblems(filters, { byRepository: [], byUser: ["absent", "taken"] });
  expect(problems.map(({ name }) => name)).toEqual(["taken"]);
});

test("names are read from rules and macros, not from comments or patterns", () => {
  const text = [
    "# *.x filter=comment",
    "*.bin filter=lfs diff=lfs -text",
    "[attr]secret filter=crypt",
    '"a filter=pattern.txt" text',
    "*.plain -filter !filter",
    "\t*.tab\tfilter=tabbed",
  ].join("\n");
  expect(filtersNamedIn(text)).toEqual(["crypt", "lfs", "tabbed"]);
});

test.each(["missing", "unconfirmed", "changed"] as const)(
  "the command offered for a %s filter runs nothing of its name",
  (problem) => {
    const sentence = filterSentence({ name: "x;touch$IFS-pwned", problem, command: null });
    expect(sentence).toEndWith("ov trust add 'x;touch$IFS-pwned'");
    expect(filterSentence({ name: "it's\u001b", problem, command: null })).toEndWith("ov trust add 'it'\\''s\\u{1b}'");
    expect(filterSentence({ name: "lfs", problem, command: null })).toEndWith("ov trust add lfs");
  },
);
