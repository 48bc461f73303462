/**
 * What an agent gets of a person's shell unless a runtime asks for more: locale, terminal, proxies, certificates, the
 * SSH agent, version managers and tool caches. Secrets of other programs stay behind.
 */
const everyAgent = [
  "LANG",
  "LANGUAGE",
  "LC_*",
  "TZ",
  "TERM",
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
  "SSH_AUTH_SOCK",
  "GIT_SSH_COMMAND",
  "GIT_AUTHOR_*",
  "GIT_COMMITTER_*",
  "GIT_CONFIG_GLOBAL",
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

/** Never passed on, whoever asks: they would let an agent's directory or parent change how our own program runs. */
const never = ["BUN_*", "OVERSTORY_TOKEN", "NODE_OPTIONS", "LD_PRELOAD"] as const;

/** The variables of `env` that agents of a runtime may have. Patterns are names, or prefixes ending in `*`. */
export function allowedEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  runtimePatterns: readonly string[],
): Record<string, string> {
  const passes = matcher([...everyAgent, ...runtimePatterns]);
  const stopped = matcher(never);
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && passes(name) && !stopped(name)) made[name] = value;
  }
  return made;
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns);
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
