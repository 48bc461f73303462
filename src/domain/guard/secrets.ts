import { isOv } from "./ov-verbs.ts";
import { absolute, isInside, type Places } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, literal, operands, operandsBeside, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { shellMatches } from "./steering-files.ts";
import { type Denial, deny } from "./tool-use.ts";
import { wholeTrees } from "./whole-trees.ts";

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
  ".pulumi/credentials.json",
  ".kaggle/kaggle.json",
  ".sentryclirc",
  ".msmtprc",
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
  ".config/stripe",
  ".config/netlify",
  ".netlify",
  ".wrangler",
  ".config/.wrangler",
  ".ngrok2",
  ".config/ngrok",
  ".config/heroku",
  ".local/share/heroku",
  ".fly",
  ".vercel",
  ".config/com.vercel.cli",
  ".local/share/com.vercel.cli",
  ".cache/huggingface/token",
  ".cache/huggingface/stored_tokens",
  ".huggingface",
  ".databrickscfg",
  ".snowsql",
  ".snowflake",
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware",
  ".config/microsoft-edge",
  ".config/vivaldi",
  ".config/opera",
  ".config/Slack",
  ".config/discord",
  ".config/Signal",
  ".local/share/TelegramDesktop",
  // What programs of Flatpak and of snaps keep: `.mozilla` and the others once more.
  ".var/app",
  "snap/firefox",
  "snap/chromium",
  "snap/brave",
  "snap/opera",
  "snap/thunderbird",
  "snap/slack",
  "snap/discord",
  "snap/signal-desktop",
  "snap/telegram-desktop",
  "snap/bitwarden",
  "snap/bw",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".gem/credentials",
  ".m2/settings.xml",
  ".gradle/gradle.properties",
  ".composer/auth.json",
  ".config/composer/auth.json",
  ".nuget/NuGet/NuGet.Config",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".mozilla",
  ".thunderbird",
  ".bash_history",
  ".zsh_history",
  ".python_history",
  ".node_repl_history",
  ".psql_history",
  ".mysql_history",
  ".sqlite_history",
  ".rediscli_history",
  ".irb_history",
  ".local/share/fish/fish_history",
];

/** Where the programs of agents keep their logins. They need them themselves, confined or not; their agents do not. */
const agentLogins: readonly string[] = [
  ".claude/.credentials.json",
  ".claude.json",
  ".codex/auth.json",
  ".gemini/oauth_creds.json",
  ".copilot",
  ".config/github-copilot",
  ".local/share/opencode/auth.json",
  ".pi/agent/auth.json",
  ".config/anthropic",
  ".qwen",
  ".cursor",
  ".codeium",
  ".aider.conf.yml",
];

const hiddenPlaces: readonly string[] = [...credentialPlaces, ...agentLogins];

export const secret = deny(
  "secrets",
  "keys, logins and the variables of other programs are not for agents; report what you would need them for",
);

/** Does a program read what is secret? By the words that it is given; a file that a program finds by itself is not seen. */
export function checkSecrets(
  invocation: Invocation,
  all: readonly Invocation[],
  policy: GuardPolicy,
  places: Places,
): Denial | undefined {
  const { name, args, assignments, cwd } = invocation;
  if (handsOut(name, args)) return secret;
  const leads = (word: ShellWord): boolean => leadsToSecret(word, cwd, policy, places);
  if (assignments.some(({ value }) => leads(value))) return secret;
  // Names that are printed may be handed to a program that reads the files.
  const isHanded = /^(ls|find|echo|printf)$/.test(name) && all.some((each) => each.name === "xargs");
  if (onlyNames.includes(name) && !isHanded) return undefined;
  if (wordsRead(name, args).some(leads)) return secret;
  if (packedBelow(name, args).some(leads)) return secret;
  return wholeTrees(name, args, isHanded).some((word) => holdsSecrets(word, cwd, policy, places)) ? secret : undefined;
}

/** `tar` reads the paths behind `-C` from that directory. */
function packedBelow(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (!/^(g|bsd)?tar$/.test(name)) return [];
  const from = valuesOf(args, "-C", "--directory");
  return from.flatMap((place) =>
    operands(args).map(({ text }) => ({ ...place, text: `${place.text}/${text}`, home: /^~(\/|$)/.test(place.text) })),
  );
}

/** Does this directory hold keys, logins or the state of the project? Files in the worktree are never secret. */
function holdsSecrets(
  word: ShellWord,
  cwd: string | undefined,
  { worktree, state }: GuardPolicy,
  places: Places,
): boolean {
  const isAtHome = cwd !== undefined && isInside(cwd, worktree) && !cwd.includes("..");
  if (isAtHome && !word.home && !/^\/|\.\./.test(word.text)) return false;
  const path = absolute(word, cwd, places.home);
  if (path === undefined) return false;
  const real = places.realPath(path);
  if (isInside(real, places.realPath(worktree))) return false;
  const { home } = places;
  return (
    isInside(places.realPath(state), real) ||
    (home !== undefined && hiddenPlaces.some((place) => isInside(`${home}/${place}`, real)))
  );
}

/** Programs to which the name of a file is a text, or that only ask whether it is there. */
const onlyNames: readonly string[] = ["echo", "printf", "test", "[", "cd", "pushd", "ls", "stat", "sd", "bd"];

/** The words that name files. The first word of a search is a pattern, and a message is a text: both name no file. */
function wordsRead(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (isOv(name)) return filesOfOv(args);
  if (name === "git") return filesOfGit(args);
  const searches = /^([ezf]?grep|rg|ag|[gmn]?awk|g?sed|jq)$/.test(name) && !hasOption(args, "ef", "regexp", "file");
  const isAwk = /awk$/.test(name);
  const sought = searches ? operandsBeside(args, isAwk ? ["-v", "-F"] : [])[0] : undefined;
  const scripts = /^([gmn]?awk|g?sed)$/.test(name) ? args.flatMap(filesInScript) : [];
  return [...args.filter((word) => word !== sought), ...scripts];
}

/** Our own program writes the files of a merge, and files that an option names. */
function filesOfOv(args: readonly ShellWord[]): readonly ShellWord[] {
  if (args.some(({ text }) => text === "merge-file")) return args;
  return args.filter(
    ({ text }, at) => /^--[a-z-]*file=/.test(text) || /^--[a-z-]*file$/.test(args[at - 1]?.text ?? ""),
  );
}

function filesOfGit(args: readonly ShellWord[]): readonly ShellWord[] {
  const grep = args.findIndex(({ text }) => text === "grep");
  const sought = grep < 0 || hasOption(args.slice(grep), "ef") ? undefined : operands(args.slice(grep + 1))[0];
  return args.filter(
    (word, at) =>
      word !== sought &&
      !/^(-[a-z]*m|--message|-[SGe]|--grep|--author)$/.test(args[at - 1]?.text ?? "") &&
      !/^--(grep|author|message|format|pretty)=/.test(word.text),
  );
}

/** Files that a script of `sed` or `awk` names, behind a space or in quotes. */
const filesInScript = (word: ShellWord): readonly ShellWord[] =>
  [...word.text.matchAll(/(?:[\s"]|^\d*,?[\d$]*[rR])([/~][^\s"<>|;)]+)/g)].map(([, text = ""]) => ({
    ...literal(text),
    home: text.startsWith("~"),
  }));

function leadsToSecret(word: ShellWord, cwd: string | undefined, policy: GuardPolicy, places: Places): boolean {
  const isAtHome = cwd !== undefined && isInside(cwd, policy.worktree) && !cwd.includes("..");
  const looks = isAtHome ? word.text.includes("/") && mayLead.test(word.text) : mayLead.test(`${cwd}/${word.text}`);
  if (word.pattern && mayMatchSecret(word, cwd, policy, places)) return true;
  if (!looks) return false;
  if (word.dynamic && plainlySecret.test(word.text)) return true;
  const value = word.text
    .slice(word.text.startsWith("-") ? Math.max(word.text.indexOf("="), gluedAt(word.text)) + 1 : 0)
    .replace(/^([\w-]*=?[@<]|[\w-]+=|file:\/\/)/, "");
  const [, below] = /^\$(?:HOME|\{HOME\})(\/.*)$/s.exec(value) ?? [];
  const [, user, ofUser] = /^~([\w.-]+)(\/.*)$/s.exec(value) ?? [];
  const path =
    ofUser !== undefined
      ? `/${user === "root" ? "" : "home/"}${user}${ofUser}`
      : below === undefined
        ? absolute({ ...word, text: value, home: /^~(\/|$)/.test(value) }, cwd, places.home)
        : `${places.home ?? "/"}${below}`;
  // A variable in a path of /proc may be any process number.
  if (path === undefined && ofSystem.test(value.replaceAll(/\$(\w+|\{\w+\}|\$)/g, "x"))) return true;
  return path !== undefined && isSecret(path, policy, places);
}

/** The letter before a path that is glued to it, as in `-a/home`. */
const gluedAt = (text: string): number => (/^-[a-zA-Z][/~]/.test(text) ? 1 : -1);

/** Names that only secret files have: a word with one of them is denied, whatever its variables stand for. */
const plainlySecret =
  /\/(\.ssh|\.gnupg|\.aws|\.kube|\.netrc|\.git-credentials|\.docker\/config\.json|\.config\/gh|\.claude\/\.credentials\.json|\.codex\/auth\.json|ov-state\/run|ov-state\/overstory\.db)(?!\w)(?!\S*\.pub)/;

/** A pattern is looked at part by part: a name of which only a few letters are written is in no text that could be searched for. */
function mayMatchSecret(word: ShellWord, cwd: string | undefined, policy: GuardPolicy, places: Places): boolean {
  const path = absolute(word, cwd, places.home);
  if (path === undefined) return false;
  const real = places.realPath(path);
  if (isInside(real, places.realPath(policy.worktree))) return false;
  const given = real.split("/");
  const kept = places.realPath(policy.state);
  const home = places.home === undefined ? [] : hiddenPlaces.map((place) => `${places.home}/${place}`);
  return [`${kept}/run`, `${kept}/overstory.db`, ...home].some((place) => {
    const parts = place.split("/");
    return parts.length <= given.length && parts.every((part, at) => shellMatches(part, given[at] ?? ""));
  });
}

/** The quick look: a text without any of these leads to nothing secret. */
const mayLead = new RegExp(
  `/proc/|/etc/|ov-state|${hiddenPlaces.map((place) => place.replaceAll(".", "\\.")).join("|")}`,
);

/** Is it a file with keys, logins or variables of other processes? The path is absolute. Files in the worktree are never secret. */
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
  return inHome !== undefined && !isPublic.test(inHome) && hiddenPlaces.some((place) => isInside(inHome, place));
}

const ofSystem =
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem)$|^\/etc\/(shadow|gshadow|sudoers(\.d)?(\/.*)?|ssl\/private(\/.*)?|ssh\/ssh_host_\w+_key)-?$/;
const isPublic = /\.pub$|(^|\/)known_hosts$/;

/** Options of `ps` that are followed by names. Without a dash before it, the letter e shows the variables of processes. */
const takesValue = /^(-?\w*[oOCuUpPgGtqsk]|--\w+)$/;

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
    case "gh":
    case "glab":
      return args.some(({ text }) => text === "auth") && hasOption(args, "t", "show-token");
    case "pass":
    case "gopass":
    case "lpass":
    case "bw":
    case "op":
    case "keyring":
    case "chamber":
    case "doppler":
      return args.length > 0 && !/^(--?(version|help|v|h)|ls|list|find|status|help|version)$/.test(args[0]?.text ?? "");
    case "vault":
      return /^(read|kv|token|login|unwrap)$/.test(verb?.text ?? "");
    case "sops":
      return hasOption(args, "d", "decrypt") || /^(decrypt|exec-env|exec-file|edit)$/.test(verb?.text ?? "");
    case "ps":
      return args.some(
        ({ text }, at) => /^[a-zA-Z]*e[a-zA-Z]*$/.test(text) && !takesValue.test(args[at - 1]?.text ?? ""),
      );
    case "keyctl":
      return /^(print|pipe|read)$/.test(verb?.text ?? "");
    case "kubectl":
    case "oc":
      return args.some(({ text }) => /^secrets?(\/|,|$)|^--raw$/.test(text));
    case "aws":
    case "az":
    case "gcloud":
      return args.some(({ text }) =>
        /^(aws_secret_access_key|aws_session_token|export-credentials|get-access-token|get-secret-value|--with-decryption|get-login-password|get-session-token|print-(access|identity)-token|keyvault|secrets)$/.test(
          text,
        ),
      );
    case "docker-credential-helper":
      return true;
    default:
      return /^(git|docker)-credential-/.test(name);
  }
}
