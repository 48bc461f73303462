import { tarMode } from "./archive-programs.ts";
import { hasOption, literal, operands, operandsBeside, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { shellMatches } from "./steering-files.ts";

/**
 * Directories of which a program, called so, copies, packs or prints everything in them: one that holds our state would give it
 * away. `isHanded`: another program gets the names that it prints. None where a program is told to leave out what git keeps, or looks at hidden files only when it is told to.
 */
export function wholeTrees(name: string, args: readonly ShellWord[], isHanded: boolean): readonly ShellWord[] {
  if (args.some(({ text }) => leavesOut.test(text))) return [];
  if (/^(cp|rsync|scp)$/.test(name)) return operands(args).slice(0, -1);
  if (/^(g|bsd)?tar$/.test(name)) return tarMode(args) === "c" ? packed(args) : [];
  if (/^(zip|7z|7za|7zz|pax)$/.test(name)) return operands(args).slice(1);
  if (/^[ezf]?grep$/.test(name)) return hasOption(args, "rR", "recursive", "dereference-recursive") ? sought(args) : [];
  if (/^(rg|ag)$/.test(name)) return args.some(({ text }) => looksAtHidden.test(text)) ? sought(args) : [];
  return name === "find" ? printedByFind(args, isHanded) : [];
}

const leavesOut = /^--(exclude|exclude-dir)=["']?(\.git|ov-state)\b|^--exclude-vcs$|^(--glob=|-g)?!\.git\b/;
const looksAtHidden = /^(--hidden|--unrestricted|--no-ignore.*|-\w*(u\w*u|\.)\w*)$/;

/** What is packed, and from where. The first letters may stand without a dash. */
const packed = (args: readonly ShellWord[]): readonly ShellWord[] => [
  ...valuesOf(args, "-C", "--directory"),
  ...operands(args),
];

/** The places of a search. Without one it is made where the shell is. */
function sought(args: readonly ShellWord[]): readonly ShellWord[] {
  const words = operandsBeside(args, [
    "-e",
    "-f",
    "-m",
    "-A",
    "-B",
    "-C",
    "-g",
    "-t",
    "--include",
    "--exclude",
    "--regexp",
  ]);
  const places = hasOption(args, "ef", "regexp", "file") ? words : words.slice(1);
  return places.length === 0 ? [literal(".")] : places;
}

/** `find` hands what it finds to another program. A name that none of our files has keeps it from them. */
function printedByFind(args: readonly ShellWord[], isHanded: boolean): readonly ShellWord[] {
  if (!isHanded && !args.some(({ text }) => /^-(exec|execdir|ok|okdir)$/.test(text))) return [];
  const names = valuesOf(args, "-name", "-iname");
  const isOurs = ({ text, dynamic }: ShellWord): boolean => dynamic || ours.some((file) => shellMatches(file, text));
  if (names.length > 0 && !names.some(isOurs)) return [];
  const first = args.findIndex(({ text }) => /^[-(!]/.test(text));
  const roots = first < 0 ? args : args.slice(0, first);
  return roots.length === 0 ? [literal(".")] : roots;
}

/** Names like those of files with secrets, ours and others. */
const ours: readonly string[] = `overstory.db overstory.db-wal run.json id_rsa id_ed25519 id_ecdsa credentials .netrc
  .git-credentials .npmrc .pypirc .pgpass hosts.yml auth.json oauth_creds.json .credentials.json .claude.json
  .bash_history .zsh_history`.split(/\s+/);
