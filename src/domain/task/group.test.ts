import { expect, test } from "bun:test";
import fc from "fast-check";
import { groupProgress, isDone, repeated, resolveGroup } from "./group.ts";
import { type Group, taskStatuses } from "./task.ts";

const group = (id: string, name: string, status: Group["status"] = "active"): Group => ({
  id,
  name,
  status,
  runId: null,
  owner: "operator",
  createdAt: 0,
  completedAt: null,
});

test("progress counts each member once, and unknown ones as open", () => {
  expect(groupProgress(["closed", "in_progress", "in_review", "blocked", "open", undefined])).toEqual({
    total: 6,
    completed: 1,
    inProgress: 2,
    blocked: 1,
    open: 2,
  });
  fc.assert(
    fc.property(fc.array(fc.option(fc.constantFrom(...taskStatuses), { nil: undefined })), (members) => {
      const { total, completed, inProgress, blocked, open } = groupProgress(members);
      expect(completed + inProgress + blocked + open).toBe(total);
      expect(isDone(groupProgress(members))).toBe(members.length > 0 && members.every((status) => status === "closed"));
    }),
  );
});

const groups = [
  group("group-1", "release"),
  group("group-2", "docs", "completed"),
  group("group-3", "docs"),
  group("group-4", "twice"),
  group("group-5", "twice"),
  group("group-6", "group-1"),
  group("group-7", "past", "completed"),
  group("group-8", "past", "completed"),
];

test.each([
  ["an id", "group-2", "group-2"],
  ["an id that is also somebody's name", "group-1", "group-1"],
  ["a name only one has", "release", "group-1"],
  ["a name with blanks around it", " release ", "group-1"],
  ["a name of one active and one completed group", "docs", "group-3"],
])("%s finds its group", (_, argument, id) => {
  expect(resolveGroup(argument, groups)).toMatchObject({ ok: true, value: { id } });
});

test.each([
  ["two active groups", "twice", ["group-4", "group-5"]],
  ["two completed groups", "past", ["group-7", "group-8"]],
])("a name of %s is ambiguous and the refusal lists the ids", (_, name, ids) => {
  expect(resolveGroup(name, groups)).toEqual({ ok: false, refusal: { kind: "group-ambiguous", name, ids } });
});

test("an unknown group is not found, with the nearest name", () => {
  expect(resolveGroup("relaese", groups)).toMatchObject({ refusal: { kind: "not-found", nearest: "release" } });
});

test("the repeated id is found", () => {
  expect(repeated(["a", "b", "a"])).toBe("a");
  expect(repeated(["a", "b"])).toBeUndefined();
});
