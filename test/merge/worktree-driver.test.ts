import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const data = (...keys: readonly string[]): string =>
  `${JSON.stringify(Object.fromEntries(["first", ...keys, "last"].map((key) => [key, 1])), null, 2)}\n`;

/** Both sides add a line at the same place, which git by itself takes for a conflict. */
const scenario = `
- when: { capability: builder }
  do:
    - edit: { file: list.json, write: ${JSON.stringify(data("mine"))} }
    - edit: { file: words.txt, write: "mine\\n" }
    - commit: my part
    - shell: printf 'm\\351ne\\n' >latin1.txt; printf 'mine\\0' >data.bin; git commit -qam "not read as text"
    - shell: git merge --no-edit side >"$HOME/merge" 2>&1
      expect: 1
    - shell: cp latin1.txt data.bin "$HOME"
    - shell: git config merge.default >"$HOME/here"
    - shell: git init -q "$HOME/other"; for place in "$HOME/other" "$OVERSTORY_PROJECT_ROOT"; do git -C "$place" config merge.default; done >"$HOME/elsewhere"; true
    - shell: git diff --name-only --diff-filter=U >"$HOME/conflicts"; cat words.txt >"$HOME/words"; ls -A >"$HOME/left"
    - shell: printf 'mine\\ntheirs\\n' | tee words.txt latin1.txt >data.bin; git commit -qam "join side"
    - ov: [done, --summary, joined]
`;

test("L10: what an agent merges in its worktree is joined by rule, and what no rule settles has the usual marks", async () => {
  await using project = await makeProject({ scenario, gates: ["true"] });
  const commit = async (list: string, words: string): Promise<void> => {
    const files = { "list.json": list, "words.txt": words, "data.bin": `${words}\0` };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project.root, name), text);
    writeFileSync(join(project.root, "latin1.txt"), Buffer.from(`\u00e9 ${words}`, "latin1"));
    await project.git("add", ...Object.keys(files), "latin1.txt");
    await project.git("commit", "--quiet", "-m", "a list");
  };
  await commit(data(), "base\n");
  await project.git("checkout", "--quiet", "-b", "side");
  await commit(data("theirs"), "theirs\n");
  await project.git("checkout", "--quiet", "main");
  await project.json("task", "create", "Join the lists", "--id", "B");
  await project.json("sling", "B", "--name", "b1");
  await untilAgent(project, "b1", "completed/done");
  const said = (name: string): string => readFileSync(join(project.home, name), "utf8");
  expect(said("conflicts")).toBe("data.bin\nlatin1.txt\nwords.txt\n");
  expect(said("words")).toBe("<<<<<<< ours\nmine\n=======\ntheirs\n>>>>>>> theirs\n");
  // What the rules cannot read keeps every byte of both sides, or our side whole where git has no marks for it.
  const latin1 = readFileSync(join(project.home, "latin1.txt")).toString("latin1");
  expect(latin1).toBe("<<<<<<< ours\nm\u00e9ne\n=======\n\u00e9 theirs\n>>>>>>> theirs\n");
  expect(said("data.bin")).toBe("mine\0");
  // The rules are there for the agent's own worktree alone.
  expect([said("here"), said("elsewhere")]).toEqual(["overstory\n", ""]);
  expect(said("left")).not.toMatch(/\.ov$/m);
  const merged = JSON.parse(await project.git("show", "overstory/b1/B:list.json"));
  expect(Object.keys(merged).toSorted()).toEqual(["first", "last", "mine", "theirs"]);
}, 60_000);
