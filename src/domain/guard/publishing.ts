import { readingGh } from "./read-only-programs.ts";
import { hasOption, operands, operandsBeside, type ShellWord } from "./shell/syntax.ts";

/** Programs of package registries, with the verbs by which something is sent there or a login is kept. */
const registries: readonly string[] =
  `npm pnpm yarn bun cargo poetry uv pdm flit hatch rye vsce ovsx jsr deno clasp docker podman gem nuget twine
  buildah skopeo crane conan pod`.split(/\s+/);
const sends =
  /^((un)?publish|deprecate|dist-tag|owner|access|yank|push|upload|login|logout|adduser|add-user|token|signin|trunk|release)$/;
/** Of npm alone: other package managers run a script of such a name. */
const npmSends = /^(team|org|profile|hook|stage)$/;
const npmLooks = /^(ls|list|get|view)$/;

/** Programs that change something on other machines, with the verbs by which they only look or stay here. */
const remotes: Readonly<Record<string, RegExp>> = {
  kubectl: /^(get|describe|logs|top|explain|version|api-\w+|cluster-info|diff|kustomize|options|completion|help)$/,
  helm: /^(lint|template|show|search|version|dependency|dep|package|create|list|ls|status|get|pull|repo|env|history|verify|help)$/,
  oc: /^(get|describe|logs|explain|version|whoami|help)$/,
  terraform: /^(fmt|validate|version|plan|show|providers|graph|output|init|get|console|help)$/,
  tofu: /^(fmt|validate|version|plan|show|providers|graph|output|init|help)$/,
  terragrunt: /^(plan|validate|hclfmt|output|help)$/,
  pulumi: /^(preview|version|about|whoami|help)$/,
  cdk: /^(synth|synthesize|diff|list|ls|version|docs|doctor|init|help)$/,
  heroku: /^(logs|apps|ps|releases|version|help|status)$/,
  vercel: /^(dev|build|ls|list|logs|inspect|whoami|help)$/,
  netlify: /^(dev|build|status|help|functions:\w+)$/,
  wrangler: /^(dev|types|whoami|tail|help|init|docs)$/,
  firebase: /^(emulators:\w+|serve|use|projects:list|help)$/,
  fly: /^(status|logs|version|help|doctor)$/,
  flyctl: /^(status|logs|version|help|doctor)$/,
  serverless: /^(offline|package|print|info|logs|help)$/,
  sls: /^(offline|package|print|info|logs|help)$/,
  railway: /^(status|logs|run|help)$/,
  ansible: /^$/,
  goreleaser: /^(check|build|healthcheck|help)$/,
  lerna: /^(run|exec|list|ls|la|ll|changed|diff|clean|bootstrap|info|init|create|add|link|watch|repair|help)$/,
  expo: /^(start|run:\w+|prebuild|export|install|lint|config|customize|help)$/,
  eas: /^(whoami|diagnostics|config|help)$/,
  "sentry-cli": /^(info|help)$/,
  deployctl: /^(logs|top|help)$/,
  sam: /^(build|local|validate|init|logs|list|help)$/,
  eb: /^(status|logs|list|health|printenv|help)$/,
  hub: /^(browse|ci-status|status|log|diff|show|version|help)$/,
  tea: /^(whoami|open|help)$/,
  surge: /^(list|whoami|help)$/,
};

/** Without a word they send the directory where they stand. */
const sendsAtOnce: readonly string[] = ["vercel", "surge"];

/** Programs that do nothing else. */
const always: readonly string[] = ["np", "semantic-release", "release-it", "ansible-playbook", "gh-pages"];

/** Programs that carry files or mail to another machine, or open a way to it. */
const carriers: readonly string[] = `sftp ftp tftp lftp ncftp ncftpput ssh-copy-id sendmail msmtp mail mailx mutt swaks
  ngrok cloudflared localtunnel lt bore`.split(/\s+/);

/** Options by which a file goes to the address that is asked. */
const uploads = /^(-[sSfLkiv]*T.*|--upload-file(=.*)?|--post-file(=.*)?|--body-file(=.*)?)$/;
const withFile = /^(-[sSfLkiv]*[dF]|--(data|data-binary|data-raw|data-urlencode|form|json))$/;
const isHere =
  /^(https?:\/\/)?(localhost|127\.[\d.]+|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal|[\w-]+\.(local|test|localhost))(?=[:/]|$)/i;

/** Is a file of this machine, or what a command prints here, sent to an address that is not on it? */
function sendsFile(name: string, args: readonly ShellWord[]): boolean {
  const isShort = !/^(curl|wget)$/.test(name);
  const sends = args.some(
    ({ text, dynamic }, at) =>
      uploads.test(text) ||
      (dynamic && /\$\(|`/.test(text.replaceAll(aboutSystem, ""))) ||
      (isShort && /^[\w-]*(:?=)?@./.test(text)) ||
      (withFile.test(args[at - 1]?.text ?? "") && /^([\w-]+=)?[@<]/.test(text)) ||
      /^(-[dF]|--(data|data-binary|form)=)([\w-]+=)?@/.test(text),
  );
  const isAddress = isShort ? /^(https?:\/\/)?[\w-]+\.[\w.-]+([:/?]|$)/i : /^(https?|ftps?|sftp|scp):\/\//i;
  return sends && args.some(({ text }) => isAddress.test(text) && !isHere.test(text));
}

/** What addresses of downloads, and the names of their files, are put together from: no other program and no file. */
const aboutSystem =
  /\$\((?:uname|arch|date|nproc|lsb_release|dpkg --print-architecture)(?: [\w%+:.,'"-]+)*(?: ?\| ?(?:tr(?: [^\s$`();&|<>]+)+|sed(?: -[Er])? (["']?)s\/[\w.-]*\/[\w.-]*\/g?\1))*\)/g;

/** What is typed or piped into a connection leaves this machine, unless it only asks whether somebody listens. */
function connectsAway(args: readonly ShellWord[]): boolean {
  if (hasOption(args, "zlUh", "listen", "unixsock", "help", "version")) return false;
  const [host] = operandsBeside(args, ["-w", "-p", "-s", "-i", "-q", "-x", "-X", "-P", "-T", "-I", "-O", "--wait"]);
  return host !== undefined && !isHere.test(host.text);
}

/** An address of socat on another machine. */
const isAway = ({ text }: ShellWord): boolean => {
  const host = /^(?:TCP|UDP|SCTP|OPENSSL|SSL|PROXY|SOCKS)[46A-Z]*(?:-CONNECT|-SENDTO|-DATAGRAM)?:([^:,]+)/i.exec(
    text,
  )?.[1];
  return host !== undefined && !isHere.test(host) && !/^\d+$/.test(host);
};

/** A script of the project that says by its name what it is for. */
const sendsByName = (name: string, verb: string, next: string): boolean =>
  /^(deploy|publish|release)(:|$)/.test(runsScripts.test(name) && /^run(-script)?$/.test(verb) ? next : verb);

/** The others run a program, or an image, whose arguments stand there. */
const runsScripts = /^(npm|pnpm|yarn|bun|uv|pdm|poetry|hatch|rye)$/;

const isOfImages = /^(docker|podman|buildah|skopeo)$/;

/** Options of programs that run targets, with a file or a directory as their value. */
const ofTargets: Readonly<Record<string, readonly string[]>> = {
  make: ["-C", "--directory", "-f", "--file", "--makefile", "-I", "--include-dir", "-o", "-W"],
  just: ["-d", "--working-directory", "-f", "--justfile"],
  task: ["-d", "--dir", "-t", "--taskfile"],
};

/** Programs of clouds: what they do stands in their second or third word. */
const clouds = ["aws", "gcloud", "az", "gsutil", "doctl", "s3cmd", "linode-cli", "argocd"];
const looksAtCloud =
  /^(ls|list|get|describe|show|head|wait|help|version|info|cat|get-[\w-]+|list-[\w-]+|describe-[\w-]+|head-[\w-]+)$/;

/** Programs like git, whose commits or branches go to other machines. */
const histories = ["hg", "sl", "svn", "bzr", "fossil", "darcs"];

/** Options before the verb that have a value. */
const valued: readonly string[] =
  `-w --workspace --registry -C --prefix --dir --cwd --filter -F --filter-prod --loglevel
  --userconfig --globalconfig --config --cache --directory --project --context -c -H --host -l --log-level --manifest-path -R
  --repository --tag --otp --access -Z --color`.split(/\s+/);

/** The command of a package manager, without the words that choose a part of the project. */
function verbsOf(args: readonly ShellWord[]): readonly string[] {
  const words = [...operandsBeside(args, valued)].map(({ text }) => text);
  if (words[0]?.startsWith("+") === true) words.shift();
  if (words[0] === "workspace") words.splice(0, 2);
  else if (words[0] === "workspaces") words.splice(0, /^(foreach|run)$/.test(words[1] ?? "") ? 2 : 1);
  return words;
}

/** Would this program, called so, send something away from this machine, or change another one? */
export function leavesMachine(name: string, args: readonly ShellWord[]): boolean {
  if (args.length === 1 && /^(--help|--version|-h|-v|-V)$/.test(args[0]?.text ?? "")) return false;
  const tries = args.some(({ text }) => /^--dry-run(=\w+)?$/.test(text));
  if (always.includes(name)) return !tries;
  if (carriers.includes(name)) return args.length > 0;
  const words = operands(args).map(({ text }) => text);
  const [verb = "", next = ""] = registries.includes(name) || histories.includes(name) ? verbsOf(args) : words;
  if (histories.includes(name))
    return /^(push|commit|ci|import|send|dcommit)$/.test(verb) && !(name !== "svn" && /^c/.test(verb));
  if (registries.includes(name)) {
    // One word may come before: `docker image push`, `yarn npm publish`.
    const inGroup = /^(npm|image|compose|manifest|registry)$/.test(verb) && sends.test(next);
    return (
      !tries &&
      (sends.test(verb) ||
        (name === "npm" && npmSends.test(verb) && !npmLooks.test(next)) ||
        inGroup ||
        (isOfImages.test(name) && args.some(({ text }) => text === "--push")) ||
        sendsByName(name, verb, next))
    );
  }
  if (Object.hasOwn(remotes, name))
    return (args.length > 0 || sendsAtOnce.includes(name)) && !tries && remotes[name]?.test(verb) !== true;
  if (clouds.includes(name)) return words.length > 0 && !words.slice(0, 4).some((word) => looksAtCloud.test(word));
  switch (name) {
    case "curl":
    case "wget":
    case "http":
    case "https":
    case "xh":
    case "xhs":
      return sendsFile(name, args);
    case "supabase":
      return /^(link|login|secrets|projects|orgs)$/.test(verb) || /^(push|deploy)$/.test(next);
    case "make":
    case "gmake":
    case "just":
    case "task":
      return (
        !tries &&
        !hasOption(args, "n", "just-print") &&
        operandsBeside(args, ofTargets[name] ?? ofTargets.make ?? []).some(({ text }) =>
          /^(deploy|publish)([:-]|$)/.test(text),
        )
      );
    case "nc":
    case "ncat":
    case "netcat":
      return connectsAway(args);
    case "socat":
      return args.some(isAway);
    case "ping":
    case "dig":
    case "host":
    case "nslookup":
      // The name itself is sent to servers that anybody may run.
      return args.some((word) => word.dynamic);
    case "rclone":
      return /^(copy|copyto|move|moveto|sync|bisync|rcat|delete|purge|deletefile|mkdir|rmdir|touch)$/.test(verb);
    case "ssh":
    case "mosh":
    case "telnet":
      // A forge is asked whether it knows a key, and answers; nothing else runs there.
      return words.length > 0 && !/(^|\s)git@[\w.-]+$/.test(words.join(" ")) && !hasOption(args, "GQ");
    case "scp":
    case "rsync":
      return /^[\w.@-]+:/.test(words.at(-1) ?? "");
    case "gh":
    case "glab":
      return args.length > 0 && !readingGh(args);
    case "mvn":
    case "mvnw":
      return words.some((word) => /(^|:)deploy(-file)?$|^release:/.test(word));
    case "gradle":
    case "gradlew":
    case "sbt":
      return words.some((word) => /(^|:|\s)(publish(?!ToMavenLocal|Local)|upload)/.test(word));
    case "dotnet":
      return verb === "nuget" && /^(push|delete)$/.test(next);
    case "mix":
      return /^hex\.(publish|owner|user|retire)$/.test(verb);
    case "python":
    case "python3":
      return args[0]?.text === "-m"
        ? leavesMachine(args[1]?.text ?? "", args.slice(2))
        : /setup\.py$/.test(verb) && next === "upload";
    case "changeset":
      return verb === "publish" || verb === "tag";
    case "rake":
    case "jj":
      return verb === "release" || (verb === "git" && next === "push");
    default:
      return false;
  }
}
