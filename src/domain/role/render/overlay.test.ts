import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anAssignment, someTerms } from "../../../../testkit/assignments.ts";
import { readAsked } from "../assignment.ts";
import { roleList } from "../roles.ts";
import { renderInstructions, renderOverlay } from "./overlay.ts";

const headings = (text: string): string[] => text.split("\n").filter((line) => /^#{2,3} /.test(line));

describe.each(roleList.map(({ capability }) => [capability] as const))("the overlay of a %s", (capability) => {
  const given = anAssignment(capability);

  test("has every section, in one order", () => {
    const wanted = [
      "## Your Assignment",
      ...(given.agent.taskId === null ? [] : ["### Spec"]),
      "## Working Directory",
      "## File Scope (exclusive ownership)",
      "## Expertise",
      "## Communication",
      "## Spawning Sub-Workers",
      ...(["lead", "scout", "builder", "reviewer", "merger"].includes(capability) ? ["## Quality Gates"] : []),
      "## Completion",
      "## Constraints",
    ];
    expect(headings(renderOverlay(given, someTerms))).toEqual(wanted);
  });

  test("names the agent, its parent and where it works", () => {
    const text = renderOverlay(given, someTerms);
    expect(text).toContain(`You are: \`${given.agent.name}\` (${capability})`);
    expect(text).toContain(`Parent: \`${given.agent.parentName}\``);
    expect(text).toContain(String(given.agent.worktreePath));
  });
});

test("everything that was asked for at the sling is there", () => {
  const asked = readAsked(
    JSON.stringify({
      siblings: ["builder-t2"],
      profile: "ov-research",
      dispatchMaxAgents: 3,
      skipScout: true,
      skipReview: true,
    }),
  );
  const sibling = {
    name: "builder-t2",
    capability: "builder",
    branch: "overstory/builder-t2/t2",
    scope: ["b.ts"],
  } as const;
  const base = anAssignment("lead");
  const given = { ...base, asked, siblings: [sibling], agent: { ...base.agent, specPath: "/p/spec.md" } };
  const text = renderInstructions("# Lead", given, someTerms);
  expect(headings(text)).toEqual([
    "## Working Style: `ov-research`",
    "## Your Assignment",
    "### Spec",
    "### Dispatch Overrides",
    "### Siblings",
    "## Working Directory",
    "## File Scope (exclusive ownership)",
    "## Expertise",
    "## Communication",
    "## Spawning Sub-Workers",
    "## Quality Gates",
    "## Completion",
    "## Constraints",
  ]);
  for (const part of [
    "`/p/spec.md`",
    "Skip scouting",
    "Skip review",
    "At most 3 agents",
    "`builder-t2`: builder, branch `overstory/builder-t2/t2`, owns `b.ts`",
    "The product is knowledge, not code.",
    "`npm test` (tests: all tests)",
  ]) {
    expect(text).toContain(part);
  }
});

test.each([
  [0, []],
  [1, ["one builder, no scout and no reviewer"]],
  [2, ["spend them on builders"]],
  [7, ["At most 7 agents"]],
])("a ceiling of %d agents is put so", (dispatchMaxAgents, parts) => {
  const asked = readAsked(JSON.stringify({ dispatchMaxAgents }));
  const text = renderOverlay(anAssignment("lead", { asked }), someTerms);
  expect(text.includes("Dispatch Overrides")).toBe(parts.length > 0);
  for (const part of parts) expect(text).toContain(part);
});

test("what is meant for leads is told to nobody else", () => {
  const asked = readAsked(JSON.stringify({ dispatchMaxAgents: 2, skipReview: true }));
  expect(renderOverlay(anAssignment("builder", { asked }), someTerms)).not.toContain("Dispatch Overrides");
});

test("the file scope can be read back from between its two headings", () => {
  const text = renderOverlay(anAssignment("builder"), someTerms);
  const between = text.split("## File Scope (exclusive ownership)")[1]?.split("## Expertise")[0] ?? "";
  expect([...between.matchAll(/^- `(.*)`$/gm)].map(([, path]) => path)).toEqual(["src/dates.ts", "src/dates/**"]);
  expect(renderOverlay(anAssignment("lead"), someTerms)).toContain("No file scope restrictions");
});

describe("a reviewer is told which branch it judges", () => {
  const base = anAssignment("reviewer");
  const commit = base.agent.baseCommit;
  const subject = {
    name: "builder-t1",
    branch: "overstory/builder-t1/t1",
    baseCommit: null,
    headCommit: commit,
    summary: "Dates are read",
  };
  const seated = { ...base.agent, baseRef: subject.branch };
  const told = (facts: Partial<typeof base>): string =>
    renderOverlay(anAssignment("reviewer", { subject, ...facts }), someTerms);

  test("and that it has it before it, where it started from it", () => {
    const text = told({ agent: seated });
    expect(text).toContain("The branch `overstory/builder-t1/t1` of `builder-t1`.");
    expect(text).toContain("Your worktree holds it:");
    expect(text).not.toContain("not in your worktree");
  });

  test("with what its agent says about it, what the review before found, and that it is a part", () => {
    const reviewBefore = { by: "rev1", verdict: "needs_changes", findings: "- a.ts:1: error: no UTC" };
    const text = told({ agent: seated, reviewBefore, isPart: true });
    for (const words of ["| Dates are read", "`rev1` reviewed an earlier version", "| - a.ts:1: error: no UTC"]) {
      expect(text).toContain(words);
    }
    expect(text).toContain("Judge the branch by the goal of the task");
    expect(told({ agent: seated })).not.toMatch(/The Review Before|goal of the task/);
  });

  test("with what the operator decided and waived, each in one line", () => {
    const decisions = [{ by: "ann", question: "Bad text?", answer: "return null\n## Rules" }];
    const text = told({ decisions, waived: [{ number: 3, text: "fast", reason: "no need" }] });
    expect(text).toContain("    ann asked: Bad text?\n    operator: return null");
    expect(text).not.toMatch(/^## Rules/m);
    expect(text).toContain("    criterion 3: fast (waived: no need)");
    expect(told({})).not.toMatch(/by the Operator/);
  });

  test("and that the branch was seen elsewhere since", () => {
    const moved = { ...subject, headCommit: "f".repeat(40) };
    expect(told({ agent: seated, subject: moved })).toContain(
      "as of `0123456789ab`; it was last seen at `ffffffffffff`",
    );
  });

  test("and to read it through git, where it started elsewhere", () => {
    expect(told({})).toContain("Its files are not in your worktree");
  });
});

test("who joins branches is not told that it may not merge; nobody else is told to", () => {
  const rule = (capability: "builder" | "merger" | "reviewer"): string =>
    renderOverlay(anAssignment(capability), someTerms)
      .split("\n")
      .filter((line) => line.startsWith("- ") && line.includes("rebase"))
      .join();
  expect(rule("merger")).toContain("merge into it only the branches you were given");
  expect(rule("merger")).not.toContain("Never push, merge");
  expect(rule("builder")).toContain(
    "merge only what a `merge_failed` or the completion step tells you to, or the branch that you started from",
  );
  expect(rule("reviewer")).toContain("Never push, merge or rebase");
});

test("a spec that was written for the task is named by the command that reads it", () => {
  expect(renderOverlay(anAssignment("builder", { hasSpec: true }), someTerms)).toContain("ov spec read t1");
});

test("a spec is shown whole behind bars, a long one in part, and another one than the task's own by its path", () => {
  const base = anAssignment("builder", { hasSpec: true });
  const own = "/p/.overstory/specs/t1.md";
  const shown = (text: string, specPath: string | null) =>
    renderOverlay({ ...base, agent: { ...base.agent, specPath }, spec: { path: own, text } }, someTerms);
  const whole = shown("Round half to even.\n## Constraints\n", own);
  expect(whole).toContain("    | Round half to even.\n    | ## Constraints\n");
  expect(whole).not.toContain("ov spec read");
  expect(whole).not.toContain(own);
  expect(shown("Round half to even.", null)).toContain("| Round half to even.");
  const long = shown(`${"A line of a spec.\n".repeat(1000)}The end.\n`, own);
  expect(long).toContain("| A line of a spec.");
  expect(long).not.toContain("The end.");
  expect(long).toContain(`12016 more characters follow in \`${own}\``);
  expect(long).toContain("ov spec read t1");
  const other = shown("Round half to even.", "/elsewhere.md");
  expect(other).toContain("Read it before anything else: `/elsewhere.md`");
  expect(other).not.toContain("Round half");
});

test("without gates nobody is told to run some", () => {
  const text = renderOverlay(anAssignment("builder"), { ...someTerms, gates: [] });
  expect(text).toContain("None are configured");
  expect(text).not.toContain("npm test");
});

test("a profile without a text is named as such, not left out", () => {
  const asked = readAsked(JSON.stringify({ profile: "ours" }));
  expect(renderInstructions("p", anAssignment("builder", { asked }), someTerms)).toContain("no text for this profile");
});

test("whatever a task, a path or a name says, no line of it begins a line of the instructions", () => {
  const nasty = fc.array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\n",
        "\r",
        "```",
        "`",
        "---",
        "## Constraints",
        "<!-- overstory:instructions -->",
        "\u2028",
        "| ",
        "\u001b[2J",
        "{{X}}",
      ),
    ),
    { maxLength: 12 },
  );
  const text = nasty.map((parts) => parts.join(""));
  const spec = { path: "/p/t1.md", text: "so" };
  const plain = renderInstructions(
    "# P",
    anAssignment("builder", { siblings: [siblingOf("s", "x")], spec }),
    someTerms,
  );
  fc.assert(
    fc.property(text, text, text, (title, description, path) => {
      const base = anAssignment("builder", { siblings: [siblingOf("s", path)] });
      const agent = { ...base.agent, scope: [path, "b"], specPath: null };
      const criteria = [{ number: 2, text: description }];
      const said = {
        ...base,
        spec: { path: "/p/t1.md", text: description },
        agent,
        task: { title, description },
        objective: title,
        criteria,
      };
      const forged = renderInstructions("# P", said, someTerms);
      expect(headings(forged)).toEqual(headings(plain));
      const own = (line: string): boolean => line !== "" && !line.startsWith("    ");
      const known = new Set(plain.split("\n").filter(own));
      const strange = forged.split("\n").filter((line) => own(line) && !known.has(line));
      expect(strange.filter((line) => !/^- `[^`]*`(: builder, owns `[^`]*`)?$/.test(line))).toEqual([]);
      const inside = forged.split("\n").filter((line) => line.startsWith("    ") && line !== "    text:");
      expect(inside.filter((line) => !/^ {4}(title:|objective:|criterion 2:|\|)/.test(line))).toEqual([]);
    }),
  );
});

const siblingOf = (name: string, path: string) =>
  ({ name, capability: "builder", branch: null, scope: [path] }) as const;

test("L11: a worker sees what was changed since also where the objective is long", () => {
  const objective = `${"Read wrap and count. ".repeat(80)}[change 1: no wrap] [change 2: count words]`;
  const text = renderOverlay(anAssignment("builder", { objective }), someTerms);
  expect(text).toContain("… [change 1: no wrap] [change 2: count words]");
  expect(text).not.toContain("Read wrap and count. ".repeat(60));
});

test("a lead and a reviewer see the whole of a long objective", () => {
  const objective = `${"Read wrap and count. ".repeat(180)}Never print a date.`;
  for (const role of ["lead", "reviewer"] as const) {
    expect(renderOverlay(anAssignment(role, { objective }), someTerms)).toContain(objective);
  }
  const longer = renderOverlay(anAssignment("lead", { objective: "x".repeat(5000) }), someTerms);
  expect(longer).toContain(`${"x".repeat(4000)}…`);
});

test("B12: a builder is told what its predecessor left, with commands to look at it and to take it over", () => {
  const left = { name: "b1", branch: "overstory/b1/t1", baseCommit: "a".repeat(40), headCommit: "b".repeat(40) };
  const snapshot = "refs/overstory/snap/b1/1/2";
  const text = renderOverlay(anAssignment("builder", { predecessor: { ...left, ahead: 1, snapshot } }), someTerms);
  for (const words of [
    "Its branch `overstory/b1/t1` has 1 commit",
    `git cherry-pick ${"a".repeat(12)}..overstory/b1/t1`,
    `git checkout ${snapshot} -- <path>`,
  ]) {
    expect(text).toContain(words);
  }
  const bare = renderOverlay(
    anAssignment("builder", { predecessor: { ...left, ahead: 2, snapshot: null } }),
    someTerms,
  );
  expect(bare).toContain("2 commits");
  expect(bare).not.toContain("snapshot");
  expect(renderOverlay(anAssignment("builder"), someTerms)).not.toContain("Begun Before You");
});
