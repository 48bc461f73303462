import { describe, expect, test } from "bun:test";
import { attempt, nowhere, policyFor } from "../../../testkit/guard.ts";
import { commandCases } from "../../../testkit/guard-cases.ts";
import { roles } from "../role/roles.ts";

const scratch = "/w/.git/ov-state/agents/bob/scratch";

describe("files to throw away", () => {
  const may = [
    'bun test 2>&1 | tee "$OVERSTORY_SCRATCH/out.txt"',
    `npm test > $OVERSTORY_SCRATCH/out.txt 2>&1; tail \${OVERSTORY_SCRATCH}/out.txt`,
    `mkdir -p ${scratch}/notes && echo x > ${scratch}/notes/a.md`,
    "cp src/a.ts $OVERSTORY_SCRATCH/a.ts",
    "rm -rf $OVERSTORY_SCRATCH/notes",
  ];
  const mayNot = [
    "echo x > $OVERSTORY_SCRATCH/../guard.json",
    `echo x > ${scratch}/../guard.json`,
    `echo x > ${scratch}/{a,../guard.json}`,
    `rm -rf ${scratch}`,
    "echo x > $OVERSTORY_SCRATCH",
    "OVERSTORY_SCRATCH=/w/tree; echo x > $OVERSTORY_SCRATCH/a.ts",
    "read OVERSTORY_SCRATCH < a; echo x > $OVERSTORY_SCRATCH/a.ts",
    "echo x > /w/.git/ov-state/agents/ann/scratch/a",
    "echo x > /tmp/a",
    "cp -l src/a.ts $OVERSTORY_SCRATCH/a.ts",
    "cp -s src/a.ts $OVERSTORY_SCRATCH/a.ts",
    "cp -a src $OVERSTORY_SCRATCH/src",
    "cp --target-d=/w/tree a $OVERSTORY_SCRATCH/a",
    "ln -s /w/tree $OVERSTORY_SCRATCH/tree",
    "mv src/a.ts $OVERSTORY_SCRATCH/a.ts",
    "touch $OVERSTORY_SCRATCH/a src/b",
    "cd - && mkdir -p '$OVERSTORY_SCRATCH/x'",
    "sh $OVERSTORY_SCRATCH/x.sh",
    "node $OVERSTORY_SCRATCH/x.js",
    `node ${scratch}/x.js`,
  ];
  for (const role of ["reviewer", "scout"] as const) commandCases(role, { may, mayNot });
  commandCases("builder", { may: ["echo x > $OVERSTORY_SCRATCH/a", `rm -rf \${OVERSTORY_SCRATCH}/a`] });

  test("a tool that writes files may write there, and nowhere else", () => {
    const policy = policyFor(roles.reviewer);
    const edit = (file_path: string) => attempt(policy, { kind: "edit", tool: "Write", input: { file_path } });
    expect(edit(`${scratch}/notes.md`)).toEqual({ decision: "allow" });
    expect(edit("/w/tree/src/a.ts")).toMatchObject({ decision: "deny" });
    expect(edit(`${scratch}/../guard.json`)).toMatchObject({ decision: "deny" });
  });

  test("a link in the place of the directory leads nowhere", () => {
    const realPath = (path: string) => nowhere.places.realPath(path.replace(scratch, "/w/tree"));
    const machine = { ...nowhere, places: { ...nowhere.places, realPath } };
    const policy = policyFor(roles.reviewer);
    const input = { file_path: `${scratch}/a.ts` };
    expect(attempt(policy, { kind: "edit", tool: "Write", input }, machine)).toMatchObject({ decision: "deny" });
  });
});
