import { expectGit, git } from "../git.ts";

/** In whose name commits are made, and how they are signed. */
export interface Signature {
  /** Undefined when git does not know the user. */
  readonly user: { readonly name: string; readonly email: string } | undefined;
  /** Settings for the signature; undefined when the project does not sign. */
  readonly signing: readonly string[] | undefined;
}

/**
 * Reads who the user is. Names and keys may come from any configuration, programs only from the user's own or the
 * machine's: that of the repository can be written by agents.
 */
export async function readSignature(root: string): Promise<Signature> {
  const wanted = "^((user|author|committer)\\.(name|email)|user\\.signingkey|commit\\.gpgsign|gpg\\..*)$";
  const answer = await git(root, "config", "-z", "--show-scope", "--get-regexp", wanted);
  // One: there is no such setting at all.
  const settings = answer.code === 1 ? [] : parse(expectGit(answer, "reading the user's name").out);
  const last = (key: string): string | undefined => settings.findLast((setting) => setting.key === key)?.value;
  const name = last("user.name") ?? last("committer.name") ?? last("author.name");
  const email = last("user.email") ?? last("committer.email") ?? last("author.email");
  const user =
    name === undefined || email === undefined || `${name}${email}`.trim() === "" ? undefined : { name, email };
  if (!isTrue(last("commit.gpgsign"))) return { user, signing: undefined };
  const signing = settings.filter(mayDecide).map(({ key, value }) => `${key}=${value}`);
  return { user, signing };
}

interface Setting {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

function parse(text: string): readonly Setting[] {
  const parts = text.split("\0");
  const settings: Setting[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [scope = "", entry = ""] = parts.slice(at, at + 2);
    const end = entry.indexOf("\n");
    // A key without a value is true.
    const [key, value] = end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    // What we set ourselves for every call.
    if (scope !== "command") settings.push({ scope, key, value });
  }
  return settings;
}

const isTrue = (value: string | undefined): boolean => /^(true|yes|on|[1-9]\d*)$/i.test(value ?? "");

const plainKeys = ["user.signingkey", "gpg.format"];

const mayDecide = ({ scope, key }: Setting): boolean =>
  plainKeys.includes(key) || (key.startsWith("gpg.") && (scope === "global" || scope === "system"));
