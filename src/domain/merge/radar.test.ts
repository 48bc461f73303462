import { expect, test } from "bun:test";
import fc from "fast-check";
import { collisionMail, collisionsToTell, commitsOf, pairsOf, type RadarHead } from "./radar.ts";

const head = (branch: string, commit: string, more: Partial<RadarHead> = {}): RadarHead => ({
  branch,
  commit,
  agentName: branch,
  landsOn: "main",
  ...more,
});

const names = (heads: readonly RadarHead[]): string[] => pairsOf(heads).map(({ a, b }) => `${a.branch} ${b.branch}`);

test("every two branches that land on the same one are a pair, and each with where it lands", () => {
  const main = head("main", "m", { agentName: null });
  expect(names([head("b", "2"), main, head("a", "1")])).toEqual(["a b", "a main", "b main"]);
  expect(names([head("a", "1"), head("b", "2", { landsOn: "next" })])).toEqual([]);
});

test("branches at the same commit cannot collide", () => {
  expect(names([head("a", "1"), head("b", "1"), head("c", "2")])).toEqual(["a c", "b c"]);
});

test("a pair and its commits are the same in whichever order the branches come", () => {
  const letters = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e"), { minLength: 2 });
  fc.assert(
    fc.property(letters, fc.array(fc.nat(3), { minLength: 5, maxLength: 5 }), (branches, commits) => {
      const heads = branches.map((branch, at) => head(branch, String(commits[at])));
      const told = (list: readonly RadarHead[]) => pairsOf(list).map((pair) => [pair, commitsOf(pair)]);
      expect(told(heads.toReversed())).toEqual(told(heads));
    }),
  );
});

test("what is told once is an owner and a file; a branch on which work lands has no owner", () => {
  const landing = { branch: "main", commit: "3", agentName: null, landsOn: "main" };
  const told = (a: RadarHead, b: RadarHead, files: readonly string[]) =>
    collisionsToTell({ a, b, files }).map(({ branch, file }) => `${branch}:${file}`);
  expect(told(head("x", "1"), head("y", "2"), ["f", "g"])).toEqual(["x:f", "x:g", "y:f", "y:g"]);
  expect(told(landing, head("x", "1"), ["f"])).toEqual(["x:f"]);
  expect(told(landing, head("x", "1"), [])).toEqual(["x:"]);
});

test("the warning names both branches, their agents, the files and what to do", () => {
  const { subject, body } = collisionMail({ a: head("x", "1"), b: head("y", "2"), files: ["src/a.ts"] });
  expect(subject).toBe("branches collide: x and y");
  for (const word of ["x (x)", "y (y)", "src/a.ts", "main", "ov merge radar"]) expect(body).toContain(word);
});
