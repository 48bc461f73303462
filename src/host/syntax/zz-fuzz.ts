import { mergeCode } from "../../domain/merge/structured/merge-code.ts";
import { languageOf, type SyntaxNode } from "../../domain/merge/structured/syntax.ts";
import { parseSyntax } from "./parse.ts";
import { writeFileSync, mkdirSync } from "node:fs";
const files = (await Bun.file(process.argv[2]!).text()).trim().split("\n");
const rounds = Number(process.argv[3] ?? 3);
let seed = Number(process.argv[4] ?? 1);
const rnd = () => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed / 0x7fffffff; };
const pickN = <T>(xs: T[], n: number) => { const c = [...xs]; const out: T[] = []; while (out.length < n && c.length) out.push(c.splice(Math.floor(rnd() * c.length), 1)[0]!); return out; };
const listParents = /^(program|module|class_body|interface_body|object_type|object|enum_body|statement_block|block|switch_body|named_imports|export_clause|dictionary|array|list|arguments|argument_list|formal_parameters|jsx_element)$/;
let stats = { total: 0, merged: 0, exact: 0, perm: 0, wrong: 0, gitconf: 0, gitconfMerged: 0, refused: new Map<string, number>() };
for (let round = 0; round < rounds; round++) for (const file of files) {
  const text = (await Bun.file(file).text()).replaceAll("\r\n", "\n");
  if (text.length > 40000 || !text.endsWith("\n")) continue;
  const language = languageOf(file)!;
  const root = await parseSyntax(language, text);
  if (!root || root.hasError) continue;
  const items: [number, number, number, string][] = [];
  const walk = (n: SyntaxNode, depth: number) => {
    if (listParents.test(n.type)) for (const c of n.children) if (c.named && c.type !== "comment") {
      const from = text.lastIndexOf("\n", c.start - 1) + 1; let to = text.indexOf("\n", c.end) + 1;
      if (text.slice(from, c.start).trim() === "" && /^[,;]?$/.test(text.slice(c.end, to).trim())) { if (text[to] === "\n") to++; items.push([from, to, depth, n.type]); }
    }
    for (const c of n.children) walk(c, depth + 1);
  };
  walk(root, 0);
  if (items.length < 2) continue;

  const lines = text.split("\n"); const startOf: number[] = []; { let at = 0; for (const l of lines) { startOf.push(at); at += l.length + 1; } }
  const lineAt = (off: number) => { let lo = 0, hi = startOf.length - 1; while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (startOf[mid]! <= off) lo = mid; else hi = mid - 1; } return lo; };
  type Tag = { add?: string; del?: string; chg?: string; text?: string };
  const tags: Tag[] = lines.map(() => ({}));
  const i = Math.floor(rnd() * items.length);
  const center = items[i]![0];
  const mark = (side: string) => {
    const kind = rnd();
    const it = rnd() < 0.75 ? pickN(items.filter((x) => Math.abs(x[0] - center) < 500), 1)[0] : pickN(items, 1)[0];
    if (!it) return;
    const [f, t] = [lineAt(it[0]), lineAt(it[1])];
    if (kind < 0.65) { for (let l = f; l < t; l++) if (tags[l]!.add || tags[l]!.del || tags[l]!.chg) return; for (let l = f; l < t; l++) tags[l] = kind < 0.45 ? { add: side } : { del: side }; return; }
    const l = f + Math.floor(rnd() * (t - f)); const old = lines[l]!;
    if (tags[l]!.add || tags[l]!.del || tags[l]!.chg || old.trim() === "") return;
    const words = [...old.matchAll(/\b[a-zA-Z_]\w{2,}\b|\b\d+\b/g)]; if (words.length === 0) return;
    const w = words[Math.floor(rnd() * words.length)]!;
    const put = /\d/.test(w[0][0]!) ? String(Number(w[0]) + 7) : (rnd() < 0.5 ? w[0] + "Zq" : words[Math.floor(rnd() * words.length)]![0]);
    const next = old.slice(0, w.index) + put + old.slice(w.index! + w[0].length); if (next === old) return;
    tags[l] = { chg: side, text: next };
  };
  const nops = 1 + Math.floor(rnd() * 2);
  for (let k = 0; k < nops; k++) { mark("o"); mark("t"); }
  const build = (sides: string) => lines.flatMap((l, n) => { const g = tags[n]!; if (g.add && !sides.includes(g.add)) return []; if (g.del && sides.includes(g.del)) return []; return [g.chg && sides.includes(g.chg) ? g.text! : l]; }).join("\n");
  let [base, ours, theirs, want] = [build(""), build("o"), build("t"), build("ot")];
  if (ours === base || theirs === base) continue;
  stats.total++;
  const T0 = performance.now(); const r = await mergeCode(parseSyntax, { language, base, ours, theirs }); if (performance.now() - T0 > 1500) { console.log("SLOW", file, items[i]![3], performance.now() - T0, r.kind, r.kind === "refused" ? r.reason : ""); writeFileSync("/tmp/pp/slow-b.py", base); writeFileSync("/tmp/pp/slow-o.py", ours); writeFileSync("/tmp/pp/slow-t.py", theirs); }
  writeFileSync("/tmp/pp/fuzz/b", base); writeFileSync("/tmp/pp/fuzz/o", ours); writeFileSync("/tmp/pp/fuzz/t", theirs);
  const git = Bun.spawnSync(["git", "merge-file", "-p", "-q", "/tmp/pp/fuzz/o", "/tmp/pp/fuzz/b", "/tmp/pp/fuzz/t"]);
  const conf = git.exitCode !== 0; if (conf) stats.gitconf++;
  if (r.kind === "refused") { const k = (conf ? "C " : "c ") + r.reason.replace(/".*"/s, "X").slice(0, 80).replace(/\b\w+ (was removed|would be)/, "N $1").replace(/of \w+ changed/, "of N changed").replace(/one side added \w+ .*/, "captured").replace(/writes [\w.]+ and/,"writes N and").replace(/renamed \w+ and/,"renamed N and"); stats.refused.set(k, (stats.refused.get(k) ?? 0) + 1); continue; }
  stats.merged++; if (conf) stats.gitconfMerged++;
  const norm = (s: string) => s.split("\n").map((l) => l.trim().replace(/[,;]$/, "")).filter((l) => l !== "");
  const [m, w] = [norm(r.content), norm(want)];
  if (m.join("\n") === w.join("\n")) { stats.exact++; continue; }
  const same = m.toSorted().join("\n") === w.toSorted().join("\n");
  const dir = `/tmp/pp/fuzz/${same ? "perm" : "wrong"}-${items[i]![3]}-${stats.total}-${round}`; mkdirSync(dir, { recursive: true });
  for (const [n, t] of Object.entries({ base, ours, theirs, merged: r.content, want })) writeFileSync(`${dir}/${n}`, t);
  if (same) stats.perm++; else { stats.wrong++; console.log("WRONG", file, dir); }
}
console.log({ ...stats, refused: undefined }); for (const [k, v] of [...stats.refused].sort((x, y) => y[1] - x[1]).slice(0, 25)) console.log(v, k);
