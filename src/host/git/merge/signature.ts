import { settingsMatching } from "../filters.ts";
import type { Repository } from "../repository.ts";

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
export async function readSignature(repository: Repository): Promise<Signature> {
  const wanted = "^((user|author|committer)\\.(name|email)|user\\.signingkey|commit\\.gpgsign|gpg\\..*)$";
  const settings = await settingsMatching(repository, wanted);
  const last = (key: string): string | undefined => settings.findLast((setting) => setting.key === key)?.value;
  const name = last("user.name") ?? last("committer.name") ?? last("author.name");
  const email = last("user.email") ?? last("committer.email") ?? last("author.email");
  const user =
    name === undefined || email === undefined || `${name}${email}`.trim() === "" ? undefined : { name, email };
  if (!isTrue(last("commit.gpgsign"))) return { user, signing: undefined };
  const mayDecide = settings.filter(
    ({ key, isUsers }) => plainKeys.includes(key) || (isUsers && key.startsWith("gpg.")),
  );
  return { user, signing: mayDecide.map(({ key, value }) => `${key}=${value}`) };
}

const isTrue = (value: string | undefined): boolean => /^(true|yes|on|[1-9]\d*)$/i.test(value ?? "");

const plainKeys = ["user.signingkey", "gpg.format"];
