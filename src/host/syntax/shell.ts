import { forEachChild, type ParsedScript, parse, type Redirection, type SyntaxNode, type Word } from "unbash";
import {
  arithmetic,
  literal,
  type ParseShell,
  type ShellAssignment,
  type ShellCommand,
  type ShellNode,
  type ShellWord,
  unknownWord,
  type WordPart,
} from "../../domain/guard/shell/syntax.ts";

/** Shell as the guard reads it. What the parser is not sure of counts as unreadable. */
export const parseShell: ParseShell = (text) => {
  try {
    return scriptNodes(parse(text));
  } catch {
    // A parser that gives up has not understood the text. The caller must not take the text for harmless.
    return undefined;
  }
};

class Unreadable extends Error {}

function scriptNodes(script: ParsedScript | undefined): ShellNode[] {
  if (script === undefined || (script.errors?.length ?? 0) > 0) throw new Unreadable();
  return script.commands.flatMap(nodesOf);
}

/** Every kind of block comes down to the commands in it, in the order in which they are written. */
function nodesOf(node: SyntaxNode): ShellNode[] {
  switch (node.type) {
    case "Command":
      return [commandOf(node)];
    case "Script":
      return [apart(scriptNodes(node))];
    case "Subshell":
    case "Coproc":
      return [apart(childNodes(node))];
    case "Pipeline":
      if (node.commands.length > 1) return pipeOf(node.commands.map(nodesOf));
      return node.prefixes.some(({ type }) => type === "Negation")
        ? [maybe("once", childNodes(node))]
        : childNodes(node);
    case "Statement":
      return node.background === true ? [apart(childNodes(node))] : childNodes(node);
    case "Function":
      return [{ kind: "group", nodes: nodesOf(node.body), apart: false, name: node.name.value }];
    case "Redirected": {
      const [input] = node.redirects.flatMap(inputOf);
      const fed = fedBy(node.redirects.filter(opensInput).at(-1));
      const reads = { ...(input === undefined ? {} : { input }), ...(fed === undefined ? {} : { fed }) };
      return [{ kind: "group", nodes: childNodes(node), apart: false, ...reads }];
    }
    case "Redirect":
      return [...writing(node), ...reading(node), ...childNodes(node)];
    case "AndOr":
      return node.commands.flatMap((part, at) =>
        at === 0
          ? together(nodesOf(part))
          : [after(node.operators[at - 1] === "||" ? "failed" : "worked", nodesOf(part))],
      );
    case "If":
      return [
        { kind: "group", nodes: nodesOf(node.clause), apart: false },
        after("worked", nodesOf(node.then)),
        ...node.elif.map((each) => after("failed", childNodes(each))),
        ...(node.else === undefined ? [] : [after("failed", nodesOf(node.else))]),
        // Without a branch that fits, it has worked.
        maybe("once", []),
      ];
    case "CaseItem":
      return [maybe("once", childNodes(node))];
    case "While":
    case "ArithmeticFor":
      return [maybe("often", childNodes(node))];
    case "For":
    case "Select":
      return [looping(node.name.value, node.wordlist ?? []), maybe("often", childNodes(node))];
    case "ParameterExpansion":
      return [...evaluated(node), ...childNodes(node)];
    case "ArithmeticExpansion":
      return node.expression === undefined ? [computing(node.text)] : childNodes(node);
    case "ArithmeticCommand":
      return node.expression === undefined ? [computing(node.body)] : childNodes(node);
    case "ArithmeticBinary":
      return node.operator === "=" && node.left.type === "ArithmeticWord" && /^\w+$/.test(node.left.value)
        ? [settingTo(node.left.value, [literal("0")]), ...nodesOf(node.right)]
        : childNodes(node);
    case "ArithmeticWord":
      return [computing(node.value), ...childNodes(node)];
    case "TestUnary":
      return [running("test", literal(node.operator), wordOf(node.operand)), ...childNodes(node)];
    case "TestBinary":
      return /^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)
        ? [computing(node.left.value), computing(node.right.value), ...childNodes(node)]
        : childNodes(node);
    default:
      return childNodes(node);
  }
}

const running = (program: string, ...args: readonly ShellWord[]): ShellCommand => ({
  kind: "command",
  words: [literal(program), ...args],
  assignments: [],
  writes: [],
  inner: [],
});

/** A shell evaluates the variables that it computes with, and what their values name in turn. */
const computing = (text: string): ShellCommand => running(arithmetic, literal(text));

/** A variable with these possible values; with any value if there are none. */
const setting = (name: string, words: readonly Word[]): ShellNode =>
  settingTo(name, words.length === 0 ? [unknownWord] : words.map(wordOf));

/** The same for a loop, whose words may be what other commands print. */
const looping = (name: string, words: readonly Word[]): ShellNode => ({
  kind: "command",
  words: [],
  assignments: (words.length === 0 ? [undefined] : words).map((word) => {
    const found = word === undefined ? undefined : printers(word);
    const value = word === undefined ? unknownWord : wordOf(word);
    return { name, value, ...(found === undefined ? {} : { found }) };
  }),
  writes: [],
  inner: [],
});

/** The plain commands whose output a word is, without quotes around it. */
function printers({ parts = [] }: Word): readonly ShellCommand[] | undefined {
  const [only, ...more] = parts;
  return only?.type === "CommandExpansion" && more.length === 0 ? plainCommands(only.script) : undefined;
}

const settingTo = (name: string, values: readonly ShellWord[]): ShellNode => ({
  kind: "command",
  words: [],
  assignments: values.map((value) => ({ name, value })),
  writes: [],
  inner: [],
});

/** What an expansion sets and evaluates beside the commands that stand in it. */
function evaluated({ parameter, prefix, index, operation }: Parsed<"ParameterExpansion">): ShellNode[] {
  const nodes: ShellNode[] = [];
  const isAll = index !== undefined && ["@", "*"].includes(index.value);
  if (index !== undefined && !isAll) nodes.push(computing(index.value));
  // The value is the name of another variable, with an index in it perhaps.
  if (prefix === "!" && !isAll && operation?.type !== "Names") nodes.push(computing(parameter));
  if (operation?.type === "Default" && operation.operator.endsWith("=")) {
    nodes.push(setting(parameter, [operation.operand]));
  }
  if (operation?.type === "Slice") {
    for (const word of [operation.offset, operation.length]) if (word !== undefined) nodes.push(computing(word.value));
  }
  // The value is read as a prompt, and commands in it are run.
  if (operation?.type === "Transform" && operation.operand.value === "P") nodes.push(running("eval", unknownWord));
  return nodes;
}

function childNodes(node: SyntaxNode): ShellNode[] {
  const nodes: ShellNode[] = [];
  forEachChild(node, (child) => {
    nodes.push(...nodesOf(child));
  });
  return nodes;
}

const maybe = (how: "once" | "often", nodes: readonly ShellNode[]): ShellNode => ({
  kind: "group",
  nodes,
  apart: false,
  maybe: how,
});

/** Commands that count as one where it is asked whether it worked. */
const together = (nodes: readonly ShellNode[]): ShellNode[] =>
  nodes.length > 1 ? [{ kind: "group", nodes, apart: false }] : [...nodes];

const after = (before: "worked" | "failed", nodes: readonly ShellNode[]): ShellNode => ({
  kind: "group",
  nodes,
  apart: false,
  after: before,
});

/** Each part of a pipe is a process of its own, and reads what those before it print. */
const pipeOf = (parts: readonly (readonly ShellNode[])[]): ShellNode[] =>
  parts.map((nodes, at) => {
    const before = parts.slice(0, at);
    const commands = before.flatMap((each) => (each.length === 1 && each[0]?.kind === "command" ? [each[0]] : []));
    const isKnown = commands.length === at;
    const reads = at === 0 ? {} : isKnown ? { fed: commands } : { input: unknownWord };
    return { kind: "group", nodes, apart: true, ...reads };
  });

const apart = (nodes: readonly ShellNode[]): ShellNode => ({ kind: "group", nodes, apart: true });

type Parsed<T extends SyntaxNode["type"]> = Extract<SyntaxNode, { type: T }>;

function commandOf(node: Parsed<"Command">): ShellCommand {
  const words: ShellWord[] = [];
  const assignments: ShellAssignment[] = [];
  const inner: ShellNode[] = [];
  const writes: ShellWord[] = [];
  let input: ShellWord | undefined;
  const take = (word: Word): void => {
    const found = printers(word);
    words.push({ ...wordOf(word), ...(found === undefined ? {} : { found }) });
    inner.push(...childNodes(word));
  };
  if (node.name !== undefined) take(node.name);
  for (const part of [...node.prefix, ...node.suffix]) {
    if (part.type === "Word") take(part);
    else if (part.type === "Assignment") {
      assignments.push({
        name: part.name,
        value: part.value.type === "Word" ? wordOf(part.value) : unknownWord,
        ...(part.append === true || part.index !== undefined ? { appends: true } : {}),
      });
      if (part.index !== undefined) inner.push(computing(part.index.value));
      inner.push(...childNodes(part));
    } else if (part.type === "Redirect") {
      writes.push(...targetsOf(part));
      inner.push(...reading(part), ...childNodes(part));
    } else inner.push(...childNodes(part));
    if (part.type === "Redirect" || part.type === "HereDoc" || part.type === "HereString") {
      input = inputOf(part).at(0) ?? input;
    }
  }
  return { kind: "command", words, assignments, writes, inner, ...(input === undefined ? {} : { input }) };
}

/** The plain commands whose output a block reads by `< <(...)`. */
function fedBy(redirect: SyntaxNode | undefined): readonly ShellCommand[] | undefined {
  if (redirect?.type !== "Redirect" || redirect.operator !== "<" || redirect.target === undefined) return undefined;
  const found = substitutionIn(redirect.target);
  return found === undefined ? undefined : plainCommands(found.script);
}

function plainCommands(script: ParsedScript | undefined): readonly ShellCommand[] | undefined {
  const nodes = scriptNodes(script).map((node) =>
    node.kind === "group" && node.nodes.length === 1 ? node.nodes[0] : node,
  );
  const commands = nodes.filter((node) => node?.kind === "command");
  return commands.length === nodes.length ? commands : undefined;
}

/** Does it set the input of a program, and not another file that is open? */
const opensInput = (redirect: Redirection): boolean =>
  (redirect.type !== "Redirect" || redirect.operator.startsWith("<")) &&
  (redirect.descriptor === undefined ||
    (redirect.descriptor.type === "FileDescriptor" && redirect.descriptor.value === 0));

/** The process that stands in the place of a file, where the word is nothing else. */
function substitutionIn({ parts = [] }: Word): Parsed<"ProcessSubstitution"> | undefined {
  const [only, ...more] = parts;
  return only?.type === "ProcessSubstitution" && more.length === 0 ? only : undefined;
}

/** The text that the shell itself puts on the input; none of it for a file, which is not looked into. */
function inputOf(node: Parsed<"Redirect" | "HereDoc" | "HereString">): readonly ShellWord[] {
  if (node.type === "HereDoc") {
    const { text, parts = [] } = node.body;
    return [{ ...literal(text), dynamic: parts.some(({ type }) => expansions.some((each) => each === type)) }];
  }
  if (node.target === undefined) return [];
  if (node.type === "HereString") return [wordOf(node.target)];
  // Another file that is open already.
  if (node.operator === "<&" && opensInput(node) && node.target.value !== "-") return [unknownWord];
  if (node.operator !== "<" || node.target.value === "/dev/null") return [];
  return [node.target.text.startsWith("<(") ? unknownWord : literal("")];
}

function targetsOf({ operator, target }: Parsed<"Redirect">): readonly ShellWord[] {
  if (target === undefined) throw new Unreadable();
  const copies = (operator === ">&" || operator === "<&") && /^(\d+-?|-)$/.test(target.value);
  // What is written to a process is judged by what that process does.
  const isProcess = substitutionIn(target)?.operator === ">";
  return operator === "<" || operator === "<&" || copies || isProcess ? [] : [wordOf(target)];
}

/** A redirection of a whole block. */
function writing(node: Parsed<"Redirect">): ShellNode[] {
  return [{ kind: "command", words: [], assignments: [], writes: targetsOf(node), inner: [] }];
}

/** A file that is opened for reading is read by the shell, as by a program. */
const reading = ({ operator, target }: Parsed<"Redirect">): ShellNode[] =>
  operator === "<" && target !== undefined ? [running("cat", wordOf(target))] : [];

function wordOf(word: Word): ShellWord {
  const kinds = new Set<string>();
  const collect = (node: SyntaxNode): void => {
    const isUnsure = node.type === "BraceExpansion" && /[/~.$`]/.test(node.text) && !isPlainBrace(node.text, word.text);
    kinds.add(isUnsure ? "ParameterExpansion" : node.type);
    // The result of an expansion of any form is unknown here.
    if (!expansions.some((type) => type === node.type)) forEachChild(node, collect);
  };
  forEachChild(word, collect);
  const [here] = /^~(?:[+-]\d*|\d+)(?=\/|$)/.exec(word.text) ?? [];
  if (here !== undefined) {
    // The directory where the shell stands, the one before it, or one of those that it has kept.
    const text = `${here === "~+" ? "$PWD" : "$OLDPWD"}${word.value.slice(here.length)}`;
    return { text, dynamic: true, home: false, pattern: kinds.has("Glob") || kinds.has("ExtendedGlob") };
  }
  const dynamic = expansions.some((type) => kinds.has(type));
  const parts = dynamic ? partsOf(word.parts ?? []) : undefined;
  return {
    ...(parts === undefined ? {} : { parts }),
    text: word.value,
    dynamic,
    home: word.text.startsWith("~"),
    pattern: kinds.has("Glob") || kinds.has("ExtendedGlob") || kinds.has("BraceExpansion"),
  };
}

/** Endings behind the name of a file, such as `{,.bak}`, or numbers: braces with dots in them that lead nowhere else. */
const isPlainBrace = (brace: string, word: string): boolean =>
  word.split("{").length <= 5 &&
  (/^\{\d+\.\.\d+(\.\.\d+)?\}$/.test(brace) ||
    (/^\{(\.\w[\w.]*)?(,(\.\w[\w.]*)?)+\}$/.test(brace) && /[\w}]$/.test(word.slice(0, word.indexOf(brace)))));

const expansions = [
  "SimpleExpansion",
  "ParameterExpansion",
  "CommandExpansion",
  "ArithmeticExpansion",
  "ProcessSubstitution",
] as const;

/** Undefined when there is more in the word than text and plain values of variables. */
function partsOf(nodes: readonly SyntaxNode[]): readonly WordPart[] | undefined {
  const parts: WordPart[] = [];
  for (const node of nodes) {
    const found = node.type === "DoubleQuoted" ? partsOf(node.parts) : partOf(node);
    if (found === undefined) return undefined;
    parts.push(...found);
  }
  return parts;
}

function partOf(node: SyntaxNode): readonly WordPart[] | undefined {
  switch (node.type) {
    case "Literal":
    case "SingleQuoted":
    case "Glob":
      return [node.value];
    case "SimpleExpansion":
      return /^\$[A-Za-z_]\w*$/.test(node.text) ? [{ variable: node.text.slice(1) }] : undefined;
    case "ParameterExpansion": {
      const { parameter: variable, prefix, index, operation } = node;
      if (prefix !== undefined || index !== undefined || !/^[A-Za-z_]\w*$/.test(variable)) return undefined;
      if (operation === undefined) return [{ variable }];
      if (operation.type !== "Remove") return undefined;
      const { operator, operand } = operation;
      if (operator === "##" && operand.text === "*/") return [{ variable, part: "last" }];
      return operator.startsWith("%") && /^[\w.-]+$/.test(operand.text)
        ? [{ variable, without: operand.text }]
        : undefined;
    }
    case "CommandExpansion":
      return pathPartOf(node.text);
    default:
      return undefined;
  }
}

/** The last part of a path, or what stands before it. */
function pathPartOf(text: string): readonly WordPart[] | undefined {
  const [, program, variable, ending] =
    /^\$\((basename|dirname) (?:"\$\{?([A-Za-z_]\w*)\}?"|\$[A-Za-z_]\w*)(?: "?([\w.-]+)"?)?\)$/.exec(
      text.replace(/ \$([A-Za-z_]\w*)(?=[ )])/, ' "$$$1"'),
    ) ?? [];
  if (variable === undefined) return undefined;
  if (program === "dirname") return ending === undefined ? [{ variable, part: "before" }] : undefined;
  return [{ variable, part: "last", ...(ending === undefined ? {} : { without: ending }) }];
}
