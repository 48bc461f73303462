import { expect, test } from "bun:test";
import { runs } from "./package-runners.ts";
import { literal } from "./syntax.ts";

test.each([
  ["npx -p x git push", "git push"],
  ["npm run env -- git push", "git push"],
  ["npm explore x -- git push", "git push"],
  ["pnpm --filter web exec git push", "git push"],
  ["yarn workspace web exec git push", "git push"],
  ["yarn node x.js", "node x.js"],
  ["yarn run node x.js", "node x.js"],
  ["yarn build", ""],
  ["npm run build", ""],
])("%s runs %j beside scripts of the project", (line, expected) => {
  const [name = "", ...args] = line.split(" ");
  const found = runs(name, args.map(literal));
  expect(found).toMatchObject({ words: expected === "" ? [] : expected.split(" ").map(literal) });
});

test("a command in one word is read as a line", () => {
  expect(runs("yarn", [literal("exec"), literal("git push")])).toEqual({ script: "git push" });
  expect(runs("npx", [literal("--call=git push")])).toEqual({ script: "git push" });
});
