import { absolute, isInside, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, operands, type ShellWord } from "./shell/syntax.ts";
import { shellMatches } from "./steering-files.ts";
import { type Denial, deny } from "./tool-use.ts";

/** Where programs keep keys, logins and histories, relative to a home. A confined program finds none of them; a guarded one is denied them. */
export const credentialPlaces: readonly string[] = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".oci",
  ".netrc",
  "_netrc",
  ".git-credentials",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".vault-token",
  ".terraform.d",
  ".terraformrc",
  ".password-store",
  ".boto",
  ".s3cfg",
  ".config/gh",
  ".config/glab-cli",
  ".config/hub",
  ".config/git/credentials",
  ".config/gcloud",
  ".config/doctl",
  ".config/rclone",
  ".config/op",
  ".config/1Password",
  ".config/Bitwarden CLI",
  ".config/sops",
  ".config/age",
  ".config/containers/auth.json",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".composer/auth.json",
  ".config/composer/auth.json",
  ".nuget/NuGet/NuGet.Config",
  ".local/share/keyrings",
  ".mozilla",
  ".thunderbird",
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".mysql_history",
  ".sqlite_history",
  ".local/share/fish/fish_history",
];

export const secret = deny(
  "secrets",
  "keys, logins and the variables of other programs are not for agents; report what you would need them for",
);

/** Does a program read what is secret? By the words that it is given; a file that a program finds by itself is not seen. */
export function checkSecrets(invocation: Invocation, policy: GuardPolicy, places: Places): Denial | undefined {
  const { name, args } = invocation;
  if (handsOut(name, args)) return secret;
  if (onlyNames.includes(name)) return undefined;
  const read = wordsRead(name, args);
  if (read.some((word) => leadsToSecret(word, invocation.cwd, policy, places))) return secret;
  const copied = ["cp", "rsync"].includes(name) ? operands(args).slice(0, -1) : [];
  return copied.some((word) => holdsState(word, invocation.cwd, policy, places)) ? secret : undefined;
}

/** Would a copy of this directory hold what we keep for ourselves? */
function holdsState(
  word: ShellWord,
  cwd: string | undefined,
  { worktree, state }: GuardPolicy,
  places: Places,
): boolean {
  if (!word.home && !/^\/|\.\./.test(word.text)) return false;
  const path = absolute(word, cwd, places.home);
  if (path === undefined) return false;
  const real = places.realPath(path);
  return !isInside(real, places.realPath(worktree)) && isInside(places.realPath(state), real);
}

/** Programs to which the name of a file is a text, or that only ask whether it is there. */
const onlyNames: readonly string[] = [
  "echo",
  "printf",
  "test",
  "[",
  "cd",
  "pushd",
  "ls",
  "stat",
  "git",
  "ov",
  "sd",
  "bd",
];

/** The first word of a search is what is looked for. */
function wordsRead(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const searches = /^([ezf]?grep|rg|ag|sed|awk|gawk|jq)$/.test(name) && !hasOption(args, "ef", "regexp", "file");
  const sought = searches ? operands(args)[0] : undefined;
  return args.filter((word) => word !== sought);
}

function leadsToSecret(word: ShellWord, cwd: string | undefined, policy: GuardPolicy, places: Places): boolean {
  const isAtHome = cwd !== undefined && isInside(cwd, policy.worktree) && !cwd.includes("..");
  const looks = isAtHome ? word.text.includes("/") && mayLead.test(word.text) : mayLead.test(`${cwd}/${word.text}`);
  if (word.pattern && mayMatchSecret(word, cwd, policy, places)) return true;
  if (!looks) return false;
  const value = word.text
    .slice(word.text.startsWith("-") ? word.text.indexOf("=") + 1 : 0)
    .replace(/^([\w-]*=?[@<]|file:\/\/)/, "");
  const [, below] = /^\$(?:HOME|\{HOME\})(\/.*)$/s.exec(value) ?? [];
  const path =
    below === undefined
      ? absolute({ ...word, text: value, home: /^~(\/|$)/.test(value) }, cwd, places.home)
      : `${places.home ?? "/"}${below}`;
  // Whatever stands for the number of the process.
  if (path === undefined && ofSystem.test(value.replaceAll(/\$(\w+|\{\w+\}|\$)/g, "x"))) return true;
  return path !== undefined && isSecret(path, policy, places);
}

/** A pattern is looked at part by part: a name of which only a few letters are written is in no text that could be searched for. */
function mayMatchSecret(word: ShellWord, cwd: string | undefined, policy: GuardPolicy, places: Places): boolean {
  const path = absolute(word, cwd, places.home);
  if (path === undefined) return false;
  const real = places.realPath(path);
  if (isInside(real, places.realPath(policy.worktree))) return false;
  const given = real.split("/");
  const kept = places.realPath(policy.state);
  const home = places.home === undefined ? [] : credentialPlaces.map((place) => `${places.home}/${place}`);
  return [`${kept}/run`, `${kept}/overstory.db`, ...home].some((place) => {
    const parts = place.split("/");
    return parts.length <= given.length && parts.every((part, at) => shellMatches(part, given[at] ?? ""));
  });
}

/** The quick look: a text without any of these leads to nothing secret. */
const mayLead = new RegExp(
  `/proc/|/etc/|ov-state|${credentialPlaces.map((place) => place.replaceAll(".", "\\.")).join("|")}`,
);

/** Is it a file with keys, logins or variables of others? The path is absolute. What lies in the worktree is work. */
export function isSecret(path: string, { worktree, state, scratch }: GuardPolicy, places: Places): boolean {
  const real = places.realPath(path);
  if (isInside(real, places.realPath(worktree)) && !isInside(real, places.realPath(state))) return false;
  if (ofSystem.test(real)) return true;
  const own = scratch === null ? undefined : places.realPath(scratch);
  if (own !== undefined && isInside(real, own)) return false;
  const kept = places.realPath(state);
  if (real === kept || isInside(real, `${kept}/run`) || (isInside(real, kept) && /\.db(-\w+)?$/.test(real)))
    return true;
  const [, below] = /^(?:\/root|\/home\/[^/]+|\/Users\/[^/]+)\/(.+)$/.exec(real) ?? [];
  const inHome = places.home !== undefined && isInside(real, places.home) ? real.slice(places.home.length + 1) : below;
  return inHome !== undefined && !isPublic.test(inHome) && credentialPlaces.some((place) => isInside(inHome, place));
}

const ofSystem =
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem)$|^\/etc\/(shadow|gshadow|sudoers(\.d)?(\/.*)?|ssl\/private(\/.*)?|ssh\/ssh_host_\w+_key)-?$/;
const isPublic = /\.pub$|(^|\/)known_hosts$/;

/** Programs that hand out keys and logins when they are asked. */
function handsOut(name: string, args: readonly ShellWord[]): boolean {
  const [verb] = operands(args);
  switch (name) {
    case "gpg":
    case "gpg2":
      return args.some(({ text }) => /^--export-secret/.test(text));
    case "security":
      return /^(find-.*-password|dump-keychain|export)$/.test(verb?.text ?? "");
    case "secret-tool":
      return /^(lookup|search)$/.test(verb?.text ?? "");
    case "docker-credential-helper":
      return true;
    default:
      return /^(git|docker)-credential-/.test(name);
  }
}
