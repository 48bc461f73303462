import { expect, test } from "bun:test";
import { projectName } from "./name.ts";

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

test("what was typed counts most, the directory least", () => {
  expect(nameOf({ typed: " mine ", originUrl: "x/y" })).toBe("mine");
  expect(nameOf({ originUrl: "/", directory: "here" })).toBe("here");
  expect(nameOf({ directory: "two\nlines" })).toBe("two-lines");
  expect(nameOf({ directory: "" })).toBe("project");
});

test("a typed name must be usable as it is", () => {
  expect(nameOf({ typed: " " })).toBe("must not be empty");
  expect(nameOf({ typed: "a\nb" })).toBe("must be one line without control characters");
});
