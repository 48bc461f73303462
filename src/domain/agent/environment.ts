/**
 * The variables of a person's shell that every agent and every gate gets: language, network, certificates, version
 * managers and tool homes. Here as below a name may end in `*` and then stands for all names that begin so.
 */
const everybody = [
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "USER",
  "LOGNAME",
  "SHELL",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "NVM_*",
  "FNM_*",
  "VOLTA_HOME",
  "ASDF_*",
  "MISE_*",
  "PYENV_ROOT",
  "RBENV_ROOT",
  "SDKMAN_DIR",
  "JAVA_HOME",
  "GOPATH",
  "GOROOT",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "VIRTUAL_ENV",
  "PNPM_HOME",
] as const;

/** They would let a directory or a parent change how our own program runs, or are a right. */
const nobody = ["BUN_*", "OVERSTORY_TOKEN", "NODE_OPTIONS", "LD_PRELOAD"] as const;

interface Audience {
  /** In addition to the variables that all get. */
  readonly also: readonly string[];
  /** A name that reads like a secret is passed on, when something asks for it. */
  readonly secrets: boolean;
}

/**
 * Agents work in a person's name: they sign, push and talk to a provider; where their home is they are told when they
 * start. Gates, setup and regenerate commands are agents' code that runs unwatched: they get no agent to sign with, no
 * key and no token.
 */
const audiences = {
  agent: {
    also: ["PATH", "TERM", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_GLOBAL"],
    secrets: true,
  },
  gate: { also: ["HOME", "PATH", "TMPDIR"], secrets: false },
} as const satisfies Record<string, Audience>;

type Variables = Readonly<Record<string, string | undefined>>;

/** The variables of `env` that agents of a runtime may have; the runtime may ask for more. */
export const allowedEnvironment = (env: Variables, runtimePatterns: readonly string[]): Record<string, string> =>
  passedTo(audiences.agent, env, runtimePatterns);

/** The variables of `env` that gates, setup and regenerate commands may have. */
export const gateVariables = (env: Variables): Record<string, string> => passedTo(audiences.gate, env, []);

/** True for a name that is never passed on, whichever process asks. */
export const isNeverPassedOn = (name: string): boolean => {
  isForNobody ??= matcher(nobody);
  return isForNobody(name);
};

/** Made when the first name is asked about: most commands start no process. */
let isForNobody: ((name: string) => boolean) | undefined;

/** The name says that the value is a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);

const secretName = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)/i;

function passedTo({ also, secrets }: Audience, env: Variables, more: readonly string[]): Record<string, string> {
  const passes = matcher([...everybody, ...also, ...more]);
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || !passes(name) || isNeverPassedOn(name)) continue;
    if (secrets || !isSecretName(name)) made[name] = value;
  }
  return made;
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns);
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** Tools are found even where the environment has no PATH. */
const anyway = { PATH: "/usr/local/bin:/usr/bin:/bin" } as const;

/** There is no terminal and no person to ask; `CI` is how test runners are told so. */
const fixed = { TERM: "dumb", CI: "1", OVERSTORY_GATE: "1" } as const;

/** The whole environment of a gate, setup or regenerate command. `told`: variables that describe the change. */
export function gateEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  told: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = { ...anyway, ...gateVariables(env), ...told, ...fixed };
  // Not even when a caller hands them in.
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isNeverPassedOn(name)));
}
