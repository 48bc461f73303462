import { bodies } from "./bodies.ts";
import { declarations } from "./declarations.ts";
import { form } from "./form.ts";
import { imports } from "./imports.ts";
import { json } from "./json.ts";
import { jsx } from "./jsx.ts";
import { judge } from "./judge.ts";
import { markdown } from "./markdown.ts";
import { python } from "./python.ts";
import { semantics } from "./semantics.ts";
import { yaml } from "./yaml.ts";

const families: Record<string, readonly any[]> = {
  imports,
  semantics,
  declarations,
  bodies,
  jsx,
  json,
  yaml,
  markdown,
  python,
  form,
};
if (process.env.ONLY) for (const k of Object.keys(families)) delete families[k];
for (const extra of process.env.EXTRA?.split(",") ?? []) Object.assign(families, await import(extra));
const rows: string[] = [];
let total = 0;
for (const [name, cases] of Object.entries(families)) {
  const t = { must: 0, solved: 0, timid: 0, refuse: 0, refused: 0, WRONG: 0, either: 0, eMerged: 0, eRefused: 0 };
  for (const one of cases) {
    total++;
    const a = await judge(one, "given");
    const b = await judge(one, "exchanged");
    if (a.kind !== b.kind)
      console.log(`## ASYMMETRIC ${name}: ${one.name}: ${a.kind}/${b.kind} ${a.kind === "refused" ? a.text : b.text}`);
    const bad = a.complaint ? a : b.complaint ? b : undefined;
    if (one.verdict === "merge") {
      t.must++;
      if (a.kind === "merged" && !bad) t.solved++;
      else if (a.kind === "refused") t.timid++;
    }
    if (one.verdict === "refuse") {
      t.refuse++;
      if (a.kind === "refused") t.refused++;
    }
    if (one.verdict === "either") {
      t.either++;
      if (a.kind === "merged") t.eMerged++;
      else t.eRefused++;
    }
    if (bad?.kind === "merged") t.WRONG++;
    if (bad)
      console.log(
        `\n==== [${bad.kind === "merged" ? "WRONG" : "timid"}] ${name}: ${one.name}\n${bad.complaint}\n--- ${bad.text}`,
      );
    else if (process.env.ALL && one.verdict === "either")
      console.log(`(either → ${a.kind}) ${name}: ${one.name}${a.kind === "refused" ? " :: " + a.text : "\n" + a.text}`);
  }
  rows.push(
    name.padEnd(14) +
      Object.entries(t)
        .map(([k, v]) => `${k} ${v}`)
        .join("  "),
  );
}
console.log("\n" + rows.join("\n") + "\n" + total);
