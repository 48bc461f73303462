/** One change to the repository, so small that the result of several of them is obvious. */
export type Change =
  | { readonly kind: "write"; readonly file: string; readonly text: string }
  | { readonly kind: "append"; readonly file: string; readonly text: string }
  | { readonly kind: "set"; readonly file: string; readonly key: string; readonly value: number };

export interface Work {
  readonly builder: string;
  readonly task: string;
  readonly lead: string;
  readonly change: Change;
  readonly reviewed: boolean;
}

/** What goes wrong once for an agent, in the turn of that number. */
export type Trouble =
  | {
      readonly kind: "crash";
      readonly agent: string;
      readonly turn: number;
      readonly when: "before" | "half" | "after";
    }
  | { readonly kind: "rate-limit"; readonly agent: string; readonly turn: number; readonly resetInMs: number };

export interface TeamPlan {
  readonly works: readonly Work[];
  readonly troubles: readonly Trouble[];
}

/** The repository as it is before the team begins. */
export const firstFiles: Readonly<Record<string, string>> = {
  "README.md": "# Ledger\n",
  "src/ledger.js": "/** What all entries cost. */\nexport function total(entries) {\n  return entries.length;\n}\n",
  "data/settings.json": `${JSON.stringify({ version: 1, unit: 100 }, null, 2)}\n`,
};

export const branchOf = ({ builder, task }: Pick<Work, "builder" | "task">): string => `overstory/${builder}/${task}`;

/** Three leads, fourteen builders of whom two pairs meet in one file, and seven reviewers: 25 with the coordinator. */
export const largePlan: TeamPlan = {
  works: [
    ...stream("north", [appended("north1"), appended("north2"), own("north3"), own("north4"), own("north5")]),
    ...stream("south", [setting("south1", 1), setting("south2", 2), own("south3"), own("south4"), own("south5")]),
    ...stream("west", [own("west1"), own("west2"), own("west3"), own("west4")]),
  ],
  troubles: [
    { kind: "crash", agent: "north2", turn: 1, when: "half" },
    { kind: "crash", agent: "south1", turn: 1, when: "after" },
    { kind: "crash", agent: "west2", turn: 1, when: "before" },
    { kind: "crash", agent: "lead-south", turn: 2, when: "after" },
    { kind: "crash", agent: "review-north3", turn: 1, when: "before" },
    { kind: "rate-limit", agent: "north4", turn: 1, resetInMs: 1500 },
    { kind: "rate-limit", agent: "lead-west", turn: 2, resetInMs: 1500 },
  ],
};

/** Every other branch of a lead is reviewed. */
function stream(name: string, changes: readonly (readonly [string, Change])[]): Work[] {
  return changes.map(([builder, change], at) => ({
    builder,
    task: `task-${builder}`,
    lead: `lead-${name}`,
    change,
    reviewed: at % 2 === 0 && !(name === "south" && at === 4),
  }));
}

function own(builder: string): readonly [string, Change] {
  return [builder, { kind: "write", file: `src/${builder}.js`, text: `export const name = "${builder}";\n` }];
}

function appended(builder: string): readonly [string, Change] {
  const text = `\n/** Written by ${builder}. */\nexport function ${builder}(entries) {\n  return total(entries) + 1;\n}\n`;
  return [builder, { kind: "append", file: "src/ledger.js", text }];
}

function setting(builder: string, value: number): readonly [string, Change] {
  return [builder, { kind: "set", file: "data/settings.json", key: builder, value }];
}

/** The files after these changes in this order, worked out without git and without the program. */
export function filesAfter(changes: readonly Change[]): Record<string, string> {
  const files: Record<string, string> = { ...firstFiles };
  for (const change of changes) files[change.file] = after(files[change.file] ?? "", change);
  return files;
}

function after(before: string, change: Change): string {
  if (change.kind === "write") return change.text;
  if (change.kind === "append") return before + change.text;
  return `${JSON.stringify({ ...JSON.parse(before), [change.key]: change.value }, null, 2)}\n`;
}
