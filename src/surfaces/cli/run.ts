import type { Description } from "../shared/description.ts";
import { exits } from "../shared/exits.ts";
import { colorDepth, makePaint } from "../shared/paint.ts";
import type { App } from "./app.ts";
import type { Command, Io, Outcome, Paint } from "./command.ts";
import type { Globals } from "./globals.ts";
import { type Parsed, parse } from "./parse.ts";
import { askAtTerminal, fileSink, jsonText, readStdin, type Sink, type Written } from "./sink.ts";

export interface CliInput {
  /** Without the program's own name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tree: Command;
  readonly version: string;
  /** Called once, and only for a command line that can be run. */
  readonly makeApp: (globals: Globals, warn: Io["warn"], command: Command) => App | Promise<App>;
  readonly stdout?: Sink;
  readonly stderr?: Sink;
  readonly stdin?: () => Promise<string | undefined>;
  readonly confirm?: Io["confirm"];
}

/**
 * The part of the command line that these words can reach. What hooks and agents call often gets a tree of its own:
 * describing all other commands would take longer than running it.
 */
export async function treeFor(argv: readonly string[]): Promise<Command> {
  const [first = ""] = argv;
  const command = Object.hasOwn(oftenTyped, first) ? await oftenTyped[first]?.() : undefined;
  if (command === undefined) return (await import("./tree.ts")).tree;
  return { name: "ov", summary: "", commands: [command] };
}

const oftenTyped: Readonly<Record<string, () => Promise<Command>>> = {
  mail: async () => (await import("./tree/mail-commands.ts")).mailCommand,
  log: async () => (await import("./tree/hook-commands.ts")).logCommand,
  hook: async () => (await import("./tree/hook-commands.ts")).hookCommand,
  mcp: async () => (await import("./tree/hook-commands.ts")).mcpCommand,
  status: async () => (await import("./tree/watch-commands.ts")).statusCommand,
  merge: async () => (await import("./tree/merge-commands.ts")).mergeCommand,
  task: async () => (await import("./tree/task-commands.ts")).taskCommand,
  sling: async () => (await import("./tree/agent-commands.ts")).slingCommand,
  done: async () => (await import("./tree/agent-commands.ts")).doneCommand,
};

/**
 * One command line, from words to exit code. Data goes to stdout and talk to stderr; with --json stdout gets exactly
 * one document, also after a failure. Never rejects.
 */
export async function runCli(input: CliInput): Promise<number> {
  const started = performance.now();
  const parsed = parse(input.tree, input.argv);
  const terminal = makeTerminal(input, parsed.globals);
  const exit = await answer(input, parsed, terminal)
    .catch((thrown: unknown) => unexpected(input, parsed, terminal, thrown))
    .catch((thrown: unknown) => unwritable(terminal, thrown));
  if (parsed.globals.timing) {
    const { elapsed } = await import("../shared/format.ts");
    terminal.stderr.write(`${terminal.talkPaint().muted(elapsed(performance.now() - started))}\n`);
  }
  return exit;
}

function isInHooks(tree: Command, path: readonly string[]): boolean {
  let command: Command | undefined = tree;
  for (const name of path) command = command?.commands?.find((child) => child.name === name);
  return command?.inHooks === true;
}

interface Terminal {
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** One JSON document is owed to stdout, also for a failure. */
  readonly machine: boolean;
  /** What the command has changed so far. */
  readonly changes: string[];
  readonly dataPaint: () => Paint;
  readonly talkPaint: () => Paint;
}

function makeTerminal({ env, stdout = fileSink(1), stderr = fileSink(2) }: CliInput, globals: Globals): Terminal {
  const paintFor = (sink: Sink) => {
    let paint: Paint | undefined;
    return () => {
      paint ??= makePaint(colorDepth({ env, noColor: globals.noColor, isTTY: sink.isTTY }));
      return paint;
    };
  };
  const machine = globals.json || globals.format === "json" || globals.format === "jsonl";
  return { stdout, stderr, machine, changes: [], dataPaint: paintFor(stdout), talkPaint: paintFor(stderr) };
}

async function answer(input: CliInput, parsed: Parsed, terminal: Terminal): Promise<number> {
  const { tree, version } = input;
  switch (parsed.kind) {
    case "version":
      terminal.stdout.write(line(versionText({ version, json: terminal.machine })));
      return exits.ok;
    case "help":
      terminal.stdout.write(line(await helpText(input, parsed, terminal)));
      return exits.ok;
    case "problem": {
      const { describeUsage } = await import("./usage.ts");
      return complain(input, parsed, terminal, describeUsage(tree, parsed.problem));
    }
    case "call":
      return call(input, parsed, terminal);
  }
}

/** What `ov --version` prints: the bare version, or with --json one document without the envelope. */
function versionText({ version, json }: { version: string; json: boolean }): string {
  if (!json) return version;
  return JSON.stringify({
    name: "overstory",
    version,
    runtime: "bun",
    platform: `${process.platform}-${process.arch}`,
  });
}

async function helpText(
  { tree, version }: CliInput,
  { command, path }: Extract<Parsed, { kind: "help" }>,
  { machine, stdout, dataPaint }: Terminal,
): Promise<string> {
  if (machine) {
    const { helpData } = await import("./help-json.ts");
    return jsonText({ success: true, command: "help", ...helpData({ command, path, version }) });
  }
  const { renderHelp } = await import("./help.ts");
  return renderHelp({ tree, command, path, version, width: stdout.columns() ?? 80, paint: dataPaint() });
}

async function call(input: CliInput, parsed: Extract<Parsed, { kind: "call" }>, terminal: Terminal): Promise<number> {
  const { command, path, flags, args, globals } = parsed;
  const io = makeIo(input, globals, terminal);
  for (const notice of parsed.notices) io.warn(notice);
  const handler = await command.run?.();
  if (handler === undefined) throw new Error(`${path.join(" ")} has no handler`);
  const app = await input.makeApp(globals, io.warn, command);
  const result = await handler({ path, flags, args, app, io });
  const notices = await app.notices();
  for (const notice of notices) io.warn(notice);
  if (result.ok) {
    const { exit = exits.ok, afterPrint } = result.value;
    if (result.value.silent === true) return exit;
    const text = await rendered(input, parsed, terminal, {
      ...result.value,
      json: withNotices(result.value.json, notices),
    });
    const isFile = result.value.exact === true && !terminal.machine;
    let written: Written;
    try {
      written = terminal.stdout.write(isFile ? text : line(text));
    } catch (thrown) {
      return unanswered(terminal, exit, thrown);
    }
    if (written === "reader-gone" || afterPrint === undefined) return exit;
    // The document on stdout is complete, so what goes wrong from here on is told to the person.
    const afterwards = { ...terminal, machine: false };
    return afterPrint().then(
      () => exit,
      (thrown: unknown) => unexpected(input, parsed, afterwards, thrown),
    );
  }
  const { describeRefusal } = await import("../shared/refusals.ts");
  // What a value may be stands in the help, where the refusal itself knows no better advice.
  const hint = `see: ${[input.tree.name, ...path].join(" ")} --help`;
  return complain(input, parsed, terminal, { hint, ...describeRefusal(result.refusal) });
}

function makeIo({ stdin = readStdin, confirm = askAtTerminal }: CliInput, globals: Globals, terminal: Terminal): Io {
  const { stdout, stderr, dataPaint, talkPaint, changes } = terminal;
  const talk = (text: string): void => {
    if (!globals.quiet) stderr.write(line(text));
  };
  return {
    json: globals.json || globals.format === "json",
    quiet: globals.quiet,
    verbose: globals.verbose,
    yes: globals.yes,
    isPiped: () => stdout.isPipe(),
    get paint() {
      return dataPaint();
    },
    say: talk,
    warn: (text) => talk(`${talkPaint().bold(talkPaint().yellow("!"))} ${text}`),
    changed: (what) => void changes.push(what),
    stdin,
    confirm,
  };
}

const withNotices = (json: Outcome["json"], notices: readonly string[]): Outcome["json"] =>
  notices.length === 0 ? json : { ...json, notices };

async function rendered(input: CliInput, parsed: Parsed, terminal: Terminal, outcome: Outcome): Promise<string> {
  const { globals } = parsed;
  const format = globals.json ? "json" : globals.format;
  if (format !== undefined && format !== "json" && outcome.rows !== undefined) {
    const { renderRows } = await import("./table.ts");
    return renderRows(outcome.rows, format, terminal.dataPaint());
  }
  if (terminal.machine) {
    const command = commandName(input, parsed);
    const failed = outcome.json.success === false ? await failureFields(outcome) : {};
    return jsonText(Object.assign({ success: true, command }, failed, outcome.json, { command }));
  }
  const text = globals.quiet ? (outcome.quietText ?? outcome.text) : outcome.text;
  const width = outcome.wraps === true ? terminal.stdout.columns() : undefined;
  if (width === undefined || width === 0) return text;
  const { wrapLines } = await import("./layout.ts");
  return wrapLines(text, width);
}

/** What the document of every failed command has, for an answer that is "no"; the answer's own fields count more. */
async function failureFields({ json, text, exit = exits.unexpected }: Outcome): Promise<Record<string, unknown>> {
  const { codeOfExit } = await import("../shared/description.ts");
  const { errorMessage } = json;
  const error = typeof errorMessage === "string" ? errorMessage : (Bun.stripANSI(text).split("\n")[0] ?? "");
  return { error, code: codeOfExit(exit), exitCode: exit };
}

async function unexpected(input: CliInput, parsed: Parsed, terminal: Terminal, thrown: unknown): Promise<number> {
  const [{ failureOf }, { describeFailure }] = await Promise.all([
    import("../../domain/failure.ts"),
    import("../shared/failures.ts"),
  ]);
  const exit = await complain(input, parsed, terminal, describeFailure(failureOf(thrown)));
  if (parsed.globals.verbose && thrown instanceof Error) terminal.stderr.write(line(traceOf(thrown)));
  return exit;
}

/**
 * The command is done, and only its output is lost, as on a full disk. The exit code must not look like a failed
 * command that can be typed again.
 */
function unanswered({ stderr, talkPaint }: Terminal, exit: number, thrown: unknown): number {
  const paint = talkPaint();
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  const said = "the command was carried out, but its answer could not be written";
  stderr.write(line(`${paint.bold(paint.red("Error [OUTPUT_ERROR]:"))} ${said}: ${why}`));
  stderr.write(line(paint.dim("  do not type it again; look at what it did with: ov status")));
  return exit === exits.ok ? exits.unwritten : exit;
}

/** Even the complaint could not be written where it belongs, as on a full disk. */
function unwritable({ stderr }: Terminal, thrown: unknown): number {
  stderr.write(line(`Error [INTERNAL_ERROR]: the answer could not be written: ${String(thrown)}`));
  return exits.unexpected;
}

/** Where it happened, and where what caused it happened. */
function traceOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by: ${traceOf(error.cause)}` : own;
}

async function complain(input: CliInput, parsed: Parsed, terminal: Terminal, problem: Description): Promise<number> {
  const { changes } = terminal;
  const said =
    changes.length === 0 ? problem : (await import("../shared/description.ts")).afterChanges(problem, changes);
  const { code, message, hint, details, retryable } = said;
  const exit = said.exit === exits.usage && isInHooks(input.tree, parsed.path) ? exits.unexpected : said.exit;
  if (terminal.machine) {
    const command = commandName(input, parsed);
    const envelope = { success: false, command, error: message, code, hint, details, exitCode: exit, retryable };
    terminal.stdout.write(line(await jsonText(envelope)));
    return exit;
  }
  const { visibleText } = await import("../../domain/text/visible.ts");
  const paint = terminal.talkPaint();
  terminal.stderr.write(line(`${paint.bold(paint.red(`Error [${code}]:`))} ${visibleText(message)}`));
  if (hint !== undefined && !parsed.globals.quiet) terminal.stderr.write(line(paint.dim(`  ${visibleText(hint)}`)));
  return exit;
}

const commandName = ({ tree }: CliInput, { path }: Parsed): string => (path.length === 0 ? tree.name : path.join(" "));

const line = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
