import { expect, test } from "bun:test";
import { planCommit, projectName } from "./set-up.ts";

const nameOf = (facts: { typed?: string; originUrl?: string; directory?: string }): unknown => {
  const name = projectName({ typed: facts.typed, originUrl: facts.originUrl, directory: facts.directory ?? "dir" });
  return name.ok ? name.value : name.refusal.problem;
};

test.each([
  ["https://example.org/team/garden.git", "garden"],
  ["https://example.org/team/garden", "garden"],
  ["https://example.org/team/garden.git/", "garden"],
  ["git@example.org:garden.git", "garden"],
  ["git@example.org:team/my.garden.git", "my.garden"],
  ["ssh://git@example.org:22/~me/garden.git", "garden"],
  ["/srv/git/garden.git", "garden"],
  ["/srv/garden/.git", "garden"],
  ["C:\\repos\\garden", "garden"],
  ["../Größe 1", "Größe 1"],
])("%s is called %s", (originUrl, name) => {
  expect(nameOf({ originUrl })).toBe(name);
});

test("typed values count most, the directory least", () => {
  expect(nameOf({ typed: " mine ", originUrl: "x/y" })).toBe("mine");
  expect(nameOf({ originUrl: "/", directory: "here" })).toBe("here");
  expect(nameOf({ directory: "two\nlines" })).toBe("two-lines");
  expect(nameOf({ directory: "" })).toBe("project");
});

test("a typed name must be usable as it is", () => {
  expect(nameOf({ typed: " " })).toBe("must not be empty");
  expect(nameOf({ typed: "a\nb" })).toBe("must be one line without control characters");
});

const config = { path: "config.yaml", mixed: false };
const guide = { path: "CLAUDE.md", mixed: true };
const own = [config, guide];

test("new files are committed", () => {
  expect(planCommit({ own, uncommitted: [], ignored: [] })).toEqual({
    paths: ["config.yaml", "CLAUDE.md"],
    theirs: [],
    ignored: [],
  });
});

test("a file with uncommitted changes of a person is left to them", () => {
  const changed = own.map(({ path }) => ({ path, tracked: true }));
  expect(planCommit({ own, uncommitted: changed, ignored: [] })).toMatchObject({
    paths: [],
    theirs: ["config.yaml", "CLAUDE.md"],
  });
});

test("an untracked file is ours when nobody else writes in it", () => {
  const untracked = own.map(({ path }) => ({ path, tracked: false }));
  expect(planCommit({ own, uncommitted: untracked, ignored: [] })).toMatchObject({
    paths: ["config.yaml"],
    theirs: ["CLAUDE.md"],
  });
});

test("what git ignores is not forced into it", () => {
  expect(planCommit({ own, uncommitted: [], ignored: ["config.yaml"] })).toMatchObject({
    paths: ["CLAUDE.md"],
    ignored: ["config.yaml"],
  });
});
