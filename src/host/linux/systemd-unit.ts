/** What a user service needs to know to bring a project's engine back after a reboot. */
export interface UnitFacts {
  readonly root: string;
  /** The state directory. */
  readonly state: string;
  /** The command line of the engine. */
  readonly engine: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** One service per project, however deep its path. */
export const unitName = (root: string): string =>
  `overstory-${new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 12)}.service`;

/**
 * The text of the service. The engine leaves with success when nothing is left to do, so only a failure restarts it;
 * only its own process is ever signalled, since the turns it started outlive it by design.
 */
export function unitText({ root, state, engine, env }: UnitFacts): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
    "[Unit]",
    `Description=Overstory engine for ${escaped(root)}`,
    `ConditionPathExists=${escaped(state)}`,
    "",
    "[Service]",
    "Type=exec",
    ...variables,
    // A dollar sign would be read as a variable in a command line, and there alone.
    `ExecStart=${engine.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}`,
    "KillMode=process",
    "Restart=on-failure",
    "RestartSec=5",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

const quoted = (text: string): string => `"${escaped(text).replaceAll('"', '\\"')}"`;

/** A percent sign starts a specifier, a backslash an escape. */
const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("%", "%%").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
