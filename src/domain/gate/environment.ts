/**
 * What commands of the project get of the engine's environment: how to find tools and files, which language to speak,
 * how to reach the network. No agent to sign with, no key of a provider, no token: what they check is code of agents.
 */
const passed = [
  "HOME",
  "PATH",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "JAVA_HOME",
  "GOPATH",
  "GOROOT",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "PYENV_ROOT",
  "RBENV_ROOT",
  "SDKMAN_DIR",
  "NVM_DIR",
  "NVM_BIN",
  "FNM_DIR",
  "VOLTA_HOME",
  "PNPM_HOME",
  "ASDF_DIR",
  "ASDF_DATA_DIR",
  "MISE_DATA_DIR",
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
] as const;

/** No terminal, nobody to ask; `CI` is how test runners are told so. */
const fixed = { TERM: "dumb", CI: "1", OVERSTORY_GATE: "1" } as const;

/** Not even when a caller hands them in: they are rights, or change how our own program runs. */
const isNever = (name: string): boolean => name === "OVERSTORY_TOKEN" || name.startsWith("BUN_");

/** The whole environment of a gate, setup or regenerate command; `told` is what it is told about the change. */
export function gateEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  told: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set<string>(passed);
  const made: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (names.has(name) || name.startsWith("LC_"))) made[name] = value;
  }
  const all = { ...made, ...told, ...fixed };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isNever(name)));
}
