/** What `ov init` found out about a project. */
export interface Detected {
  readonly name: string;
  readonly canonicalBranch: string;
  readonly runtime: string;
  readonly gates: readonly { readonly name: string; readonly command: string; readonly description: string }[];
  /** The command that installs dependencies, if the operator accepted the proposal. */
  readonly setup?: string | undefined;
}

/** The first config.yaml of a project: only what was detected, so that defaults can improve without anyone editing it. */
export function renderDefaultConfig(detected: Detected): string {
  return [
    "# Overstory: settings of this project, shared by everyone who works on it.",
    "# Every key with its meaning and value: ov config list",
    "# Settings of this machine alone belong in config.local.yaml.",
    "",
    "project:",
    `  name: ${scalar(detected.name)}`,
    "  # Branch that finished work is meant for.",
    `  canonicalBranch: ${scalar(detected.canonicalBranch)}`,
    "  # Commands that must pass on exactly what lands. Without any, each landing waits for your approval.",
    ...gateLines(detected.gates),
    "",
    "runtime:",
    "  # Coding-agent program that runs the agents.",
    `  default: ${scalar(detected.runtime)}`,
    "",
    ...(detected.setup === undefined ? [] : setupLines(detected.setup)),
  ].join("\n");
}

const setupLines = (command: string): string[] => [
  "merge:",
  "  # Installs dependencies before gates; runs once for each state of the lock files.",
  `  setup: ${scalar(command)}`,
  "",
];

function gateLines(gates: Detected["gates"]): string[] {
  if (gates.length === 0) return ["  qualityGates: []"];
  const entries = gates.flatMap(({ name, command, description }) => [
    `    - name: ${scalar(name)}`,
    `      command: ${scalar(command)}`,
    ...(description === "" ? [] : [`      description: ${scalar(description)}`]),
  ]);
  return ["  qualityGates:", ...entries];
}

const reserved = /^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i;

/** Quotes whatever YAML could read as something else; a JSON text is a YAML text. */
function scalar(text: string): string {
  const plain = /^[A-Za-z][\w./@-]*( [\w./@-]+)*$/.test(text) && !reserved.test(text);
  return plain ? text : JSON.stringify(text);
}
