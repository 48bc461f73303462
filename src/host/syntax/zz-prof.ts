import { mergeCode } from "../../domain/merge/structured/merge-code.ts";
import { languageOf } from "../../domain/merge/structured/syntax.ts";
import { parseSyntax } from "./parse.ts";
for (const f of process.argv.slice(2)) {
  const text = await Bun.file(f).text(); const language = languageOf(f)!;
  const t0 = performance.now(); await parseSyntax(language, text); const t1 = performance.now();
  const n = language === "python" ? "\n\ndef zz():\n    return 1\n" : "\nexport function zz() {\n  return 1;\n}\n";
  const r = await mergeCode(parseSyntax, { language, base: text, ours: text + n, theirs: text + n.replaceAll("zz", "yy") });
  console.log(f, text.length, (t1 - t0).toFixed(1), (performance.now() - t1).toFixed(1), r.kind, r.kind === "refused" ? r.reason : "");
}
