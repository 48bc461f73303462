import type { Invocation } from "../shell/invocations.ts";
import { hasOption, operands } from "../shell/options.ts";
import type { ShellWord } from "../shell/tree.ts";
import { sedOnlyPrints } from "./sed.ts";

type Check = (args: readonly ShellWord[]) => boolean;

const atMost =
  (count: number): Check =>
  (args) =>
    operands(args).length <= count;
const without =
  (letters: string, ...long: readonly string[]): Check =>
  (args) =>
    !hasOption(args, letters, ...long);
/** For programs whose long options begin with one dash. */
const noneOf =
  (forbidden: RegExp): Check =>
  (args) =>
    !args.some(({ text }) => forbidden.test(text));

const awk: Check = (args) => {
  const program = operands(args).find(({ text }) => !/^\w+=/.test(text));
  if (program === undefined || program.dynamic || hasOption(args, "fi", "file", "include", "exec")) return false;
  return !/system\s*\(|(?<!\|)\|(?!\|)|>>|>\s*[("A-Za-z_$]|@load|@include/.test(program.text);
};

/** Programs that change something only when they are asked to. */
const careful: Readonly<Record<string, Check>> = {
  find: noneOf(/^-(delete|f?print0?f|fprint|fls)/),
  fd: without("xX", "exec", "exec-batch"),
  rg: without("", "pre", "hostname-bin"),
  sed: sedOnlyPrints,
  awk,
  gawk: awk,
  mawk: awk,
  sort: without("oT", "output", "compress-program", "temporary-directory"),
  uniq: atMost(1),
  xxd: (args) => atMost(1)(args) && !hasOption(args, "r"),
  tree: without("o"),
  yq: without("i", "inplace", "split-exp"),
  date: without("s", "set"),
  hostname: atMost(0),
  diff: without("", "output"),
  tee: atMost(0),
  gh: (args) => readingGh(args),
};

const plain: readonly string[] =
  `ls cat head tail wc nl tac rev cut tr comm join paste fold fmt expand unexpand column grep egrep fgrep zgrep zcat ag
  jq stat file du df pwd basename dirname realpath readlink echo printf test [ true false : type which whereis printenv
  env id whoami uname locale ps pgrep lsof free uptime nproc seq expr sleep od hexdump strings base64 cksum md5sum
  sha1sum sha256sum sha512sum cmp diff3 numfmt cloc tokei cd pushd popd dirs set export readonly declare local unset shift
  read mapfile wait exit return break continue let exec trap ov overstory sd bd`.split(/\s+/);

/** The names of all programs by which a role that changes nothing may look. */
export const lookingPrograms: readonly string[] = [
  ...plain.filter((name) => /^[a-z]/.test(name)),
  ...Object.keys(careful),
].sort();

/** Programs of the system: what lies elsewhere may only be called like one. */
const systemDirs = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;

/** Does this program, called so, change nothing? */
export function onlyLooks({ name, program, args }: Invocation): boolean {
  if (program.includes("/") && !systemDirs.test(program)) return false;
  if (args.length === 1 && ["--version", "--help"].includes(args[0]?.text ?? "")) return true;
  if (Object.hasOwn(careful, name)) return careful[name]?.(args) === true;
  return plain.includes(name);
}

/** Of the forge's own program, what only shows. */
export function readingGh(args: readonly ShellWord[]): boolean {
  const [topic, verb] = operands(args);
  if (topic === undefined || topic.dynamic || verb?.dynamic === true) return false;
  return topic.text === "status" || ["view", "list", "diff", "checks", "status"].includes(verb?.text ?? "");
}
