import { expect, test } from "bun:test";
import { planCommit } from "./commit.ts";

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
