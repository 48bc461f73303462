import { expect, test } from "bun:test";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Both change the same line, commit and then wait for an answer. */
const scenario = `
- when: { turn: 1 }
  do:
    - edit: { file: shared.txt, write: "\${agent}\\n" }
    - commit: "work of \${agent}"
    - ov: [mail, send, --to, operator, --type, question, --subject, Wait, --body, until told]
`;

const events = (project: TestProject) =>
  project.read(async (tx) => (await tx.events.after(0, 10_000)).filter(({ type }) => type === "merge_radar"));

/** Everything that git stores for the project. */
const stored = async (project: TestProject): Promise<string> =>
  `${await project.git("count-objects", "-v")}${await project.git("for-each-ref")}`;

test("agents whose branches start to collide are told so by mail once, and everybody can see it", async () => {
  await using project = await makeProject({ files: { "shared.txt": "nobody\n" }, scenario });
  const branches = ["overstory/b1/T1", "overstory/b2/T2"];
  for (const n of [1, 2]) {
    await project.json("task", "create", `Task ${n}`, "--id", `T${n}`);
    await project.json("sling", `T${n}`, "--name", `b${n}`, "--files", `part-${n}`);
  }
  await project.until("the collision was found", async () => (await events(project)).length > 0);
  await project.settled();
  expect((await events(project)).map(({ data }) => JSON.parse(data ?? "{}"))).toMatchObject([
    { branches, agents: ["b1", "b2"], files: ["shared.txt"] },
  ]);
  const mails = await project.read(async (tx) => {
    const sent = (await tx.messages.list({})).filter(({ subject }) => subject.startsWith("branches collide"));
    const to: string[] = [];
    for (const { seq } of sent) {
      for (const name of ["b1", "b2", "operator"]) {
        if ((await tx.deliveries.get(seq, name)) !== undefined) to.push(name);
      }
    }
    return to.toSorted();
  });
  expect(mails).toEqual(["b1", "b2", "operator"]);

  // From here on nobody but this test changes anything.
  await project.until("every process had ended", async () => project.processes().length === 0);
  const before = await stored(project);
  const { pairs } = await project.json("merge", "radar");
  expect(pairs).toContainEqual({ a: branches[0], b: branches[1], outcome: "conflict", files: ["shared.txt"] });
  const shown = await project.ov("merge", "radar");
  expect(shown.out).toContain("conflict  overstory/b1/T1 and overstory/b2/T2: shared.txt");

  // What nobody has looked at yet is looked at for the answer only.
  await project.git("update-ref", "refs/heads/overstory/b2/T2", "HEAD");
  const known = await project.read((tx) => tx.agents.byName("b2"));
  const cleared = (await project.json("merge", "radar")) as { pairs: { a: string; b: string; outcome: string }[] };
  expect(cleared.pairs.find(({ a, b }) => a === branches[0] && b === branches[1])).toMatchObject({ outcome: "clean" });
  await project.git("update-ref", "refs/heads/overstory/b2/T2", known?.headCommit ?? "");
  expect(await stored(project)).toBe(before);

  await project.json("task", "create", "Third", "--id", "T3");
  const third = await project.json("sling", "T3", "--name", "b3", "--files", "part-1", "--allow-overlap");
  expect(third.warnings).toEqual([
    "part-1 may meet what b1 changes (part-1)",
    "b1 and b2 collide there already: shared.txt (ov merge radar)",
  ]);
}, 60_000);
