import { type ShellWord, valuesOf } from "./syntax.ts";

/** Programs that fetch or find another one and run it; they are judged themselves, and so is what they run. */
export function runs(
  name: string,
  args: readonly ShellWord[],
): { readonly words: readonly ShellWord[] } | { readonly script: string } | "opaque" {
  const inner = ["npx", "bunx", "pnpx"].includes(name) ? args : carriedBy(name, args);
  if (inner.length === 1 && /^[^-].*\s/.test(inner[0]?.text ?? "")) {
    const [only] = inner;
    return only === undefined || only.dynamic ? "opaque" : { script: only.text };
  }
  const [called] = valuesOf(inner, "-c", "--call");
  const start = inner.findIndex(
    ({ text }, at) => !text.startsWith("-") && !/^(-p|--package)$/.test(inner[at - 1]?.text ?? ""),
  );
  const before = start < 0 ? inner : inner.slice(0, start + 1);
  if (called !== undefined && before.some(({ text }) => /^(-c|--call)/.test(text))) {
    return called.dynamic ? "opaque" : { script: called.text };
  }
  return { words: start < 0 ? [] : inner.slice(start) };
}

/** What managers of packages run beside the scripts of a project. */
function carriedBy(name: string, given: readonly ShellWord[]): readonly ShellWord[] {
  if (!["npm", "pnpm", "yarn", "bun"].includes(name)) return [];
  const start = given.findIndex(
    (word, at) => !word.text.startsWith("-") && !partOptions.includes(given[at - 1]?.text ?? ""),
  );
  let args = start < 0 ? [] : given.slice(start);
  if (args[0]?.text === "workspace") args = args.slice(2);
  if (args[0]?.text === "workspaces")
    args = args.slice(args.findIndex(({ text }) => /^(exec|run|node|git)$/.test(text)));
  const [verb, next, ...rest] = args;
  const behind = (words: readonly ShellWord[]): readonly ShellWord[] =>
    words.filter(({ text }, at) => at > 0 || text !== "--");
  if (["x", "exec", "dlx"].includes(verb?.text ?? "")) return behind(args.slice(1));
  if (name === "npm" && verb?.text === "explore") return behind(rest);
  if (/^run(-script)?$/.test(verb?.text ?? "") && next?.text === "env") return behind(rest);
  const program = verb?.text === "run" ? next : verb;
  if (
    name !== "npm" &&
    (name !== "bun" || verb !== program) &&
    /^(node|git|gh|tsx|ts-node|zx|sh|bash|python3?|rm|env)$/.test(program?.text ?? "")
  )
    return args.slice(verb === program ? 0 : 1);
  return [];
}

const partOptions = ["--filter", "-F", "-w", "--workspace", "--dir", "-C", "--cwd", "--prefix"];
