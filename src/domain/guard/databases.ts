import { absolute, isInside, joined, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import type { Invocation } from "./shell/invocations.ts";
import { literal, operands, operandsBeside, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

const files: readonly string[] =
  "sqlite3 sqlite sqlite-utils litecli sqldiff sqlite3_analyzer datasette duckdb sqlitebrowser".split(" ");
const servers = ["psql", "pgcli", "usql", "pg_dump", "pg_restore", "dropdb"];

const ours = deny(
  "database",
  "the database of this project is for ov alone; ov status, ov mail, ov task and ov logs show what is in it",
);

/** May a client of a database be called so? Ours is out of bounds, whatever its words ask of it. */
export function checkDatabase(invocation: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const { name, cwd } = invocation;
  const isClient = servers.includes(name) || files.includes(name) || /^(mysql|mariadb)$/.test(name);
  if (!isClient) return undefined;
  const args = [...invocation.args, ...readLines(invocation)];
  if (runsPrograms(name, args)) {
    return deny("opaque-code", `${name} would run commands that cannot be judged here; run them one by one`);
  }
  if (servers.includes(name)) return namesOurServer(invocation.args) ? ours : undefined;
  if (!files.includes(name)) return undefined;
  if (args.some((word) => namesOurFile(word.text))) return ours;
  const state = places.realPath(policy.state);
  for (const text of args.flatMap((word) => (word.dynamic ? [] : pathsIn(word)))) {
    const path = joined(cwd, text);
    if (path !== undefined && isInside(places.realPath(path), state)) return ours;
  }
  return undefined;
}

/** Each line of what it reads, as if it were a word. A blank in front keeps a comment from being an option. */
const readLines = ({ input }: Invocation): readonly ShellWord[] =>
  input === undefined ? [] : input.text.split("\n").map((line) => literal(` ${line}`));

function runsPrograms(name: string, words: readonly ShellWord[]): boolean {
  const commands = files.includes(name) ? ofFiles : name.startsWith("m") ? ofMysql : ofServers;
  return words.some(({ text }) => commands.test(text));
}

const ofFiles =
  /(^|\s)\.(shell|system)\b|\bedit\s*\(|\bload_extension\s*\(|\.(output|once|import|read|excel)\s+['"]?\|/;
/** What else `\!` runs is read as a command of the line. */
const ofServers = /(^|[\s;])\\(o|out|gx?|w|write)\s*\||\b(to|from)\s+program\s+'/i;
const ofMysql = /\\!|^\s*system\s/;

/** By its name, wherever it lies: ours, and those of the version before. */
const namesOurFile = (text: string): boolean => /(^|[/'"\s:])(ov-state|\.overstory)\/|\boverstory\.db\b/.test(text);

const pathsIn = ({ text }: ShellWord): readonly string[] => [
  text.replace(/^file:(\/\/)?/, "").replace(/\?.*$/, ""),
  ...[...text.matchAll(/'([^']+)'|"([^"]+)"|\s(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three ?? ""),
];

function namesOurServer(args: readonly ShellWord[]): boolean {
  const named = [...valuesOf(args, "-d", "--dbname"), ...operandsBeside(args, ["-c", "-f", "-U", "-h", "-p", "-v"])];
  return named.some(({ text }) => /(^|[/=])overstory(?=$|[?\s&])/.test(text));
}

const writtenBySqlite = /\.(?:output|once|backup|save|log|excel|clone|open)\s+(?:-\w+\s+)*'?([^\s';]+)/g;
const attached = /\b(?:attach(?:\s+database)?(?:\s+if\s+not\s+exists)?|vacuum(?:\s+\w+)?\s+into)\s+['"]([^'"]*)['"]/gi;
const writtenByPsql = /(?:^|[\s;])\\(?:o|out|w|write|gx?|s|copy\b.*\bto)\s+'?([^\s'|]+)/gi;

/** Files that a client of a database in a file writes: the database, and what its commands name. */
export function databaseFiles(invocation: Invocation, places: Places): readonly ShellWord[] {
  const { name, args, cwd } = invocation;
  const lines = readLines(invocation);
  if (name === "psql") {
    const told = [...args, ...lines].flatMap(({ text }) => [...text.matchAll(writtenByPsql)]);
    return [...valuesOf(args, "-L", "--log-file", "-o", "--output"), ...told.map(([, path = ""]) => literal(path))];
  }
  if (!/^(sqlite3?|duckdb|litecli)$/.test(name) || args.some(({ text }) => /^--?(version|help)$/.test(text))) return [];
  const [file] = operandsBeside(args, ["-c", "-cmd", "-init", "-separator", "-nullvalue", "-newline", "-s"]);
  const told = [...operands(args), ...lines].flatMap(({ text }) => [
    ...[...text.matchAll(writtenBySqlite)].map(([, path = ""]) => path),
    ...[...text.matchAll(/\bwritefile\s*\(\s*'([^']*)'/gi)].map(([, path = ""]) => path),
    ...[...text.matchAll(attached)].map(([, path = ""]) => path.replace(/^file:(\/\/)?/, "").replace(/\?.*$/, "")),
  ]);
  const written = told.filter((path) => !/^(stdout|off|main|:memory:|)$/.test(path)).map(literal);
  const isFile =
    file !== undefined && !/^(:memory:|)$/.test(file.text) && !args.some(({ text }) => text === "-readonly");
  if (!isFile) return written;
  const path = file.text.replace(/^file:(\/\/)?/, "").replace(/\?.*$/, "");
  const word = { ...file, text: path };
  return absolute(word, cwd, places.home) === undefined && !file.dynamic ? written : [word, ...written];
}
