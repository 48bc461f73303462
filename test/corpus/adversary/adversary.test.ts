import { describe, expect, test } from "bun:test";
import { afterthoughts } from "./afterthoughts.ts";
import { announcements } from "./announcements.ts";
import { attacks } from "./attacks.ts";
import { dataAttacks } from "./attacks-on-data.ts";
import { pythonAttacks } from "./attacks-on-python.ts";
import { bodies } from "./bodies.ts";
import { computations } from "./computations.ts";
import { declarations } from "./declarations.ts";
import { everyday } from "./everyday.ts";
import { form } from "./form.ts";
import { imports } from "./imports.ts";
import { json } from "./json.ts";
import { jsx } from "./jsx.ts";
import { judge } from "./judge.ts";
import { markdown } from "./markdown.ts";
import { python } from "./python.ts";
import { pythonBodies } from "./python-bodies.ts";
import { secondThoughts } from "./second-thoughts.ts";
import { semantics } from "./semantics.ts";
import type { Triple } from "./triple.ts";
import { yaml } from "./yaml.ts";
import { yamlForms } from "./yaml-forms.ts";

const families: Readonly<Record<string, readonly Triple[]>> = {
  imports,
  semantics,
  declarations,
  bodies,
  jsx,
  json,
  yaml: [...yaml, ...yamlForms],
  markdown,
  python: [...python, ...pythonBodies],
  form,
  attacks: [...attacks, ...pythonAttacks, ...dataAttacks],
  announcements,
  computations,
  everyday,
  afterthoughts: [...afterthoughts, ...secondThoughts],
};

/** What a person would merge and the merger leaves to one: known, and not to grow. */
const left: ReadonlySet<string> = new Set([
  "one adds an overload, the other edits the implementation",
  "both edit distant lines of one function",
  "both reformat alike and one edits besides",
  "tsconfig with comments and trailing commas, both add an option",
  "a script of a step is edited on one side and its name on the other",
  "both add a name to a from-import in parentheses",
  "both add a guarded import",
  "angular fields with decorators",
]);

for (const [family, triples] of Object.entries(families)) {
  describe(family, () => {
    for (const one of triples) {
      const wanted = { merge: "merged", refuse: "refused", either: "merged rightly or refused" }[one.verdict];
      test(`${one.name}: ${left.has(one.name) ? "left to a person" : wanted}`, async () => {
        for (const side of ["given", "exchanged"] as const) {
          const { kind, text, complaint } = await judge(one, side);
          if (left.has(one.name)) expect(kind).toBe("refused");
          else if (complaint !== undefined) throw new Error(`${side}: ${complaint}\n${text}`);
        }
      });
    }
  });
}
