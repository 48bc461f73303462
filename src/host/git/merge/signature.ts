import { settingsMatching } from "../filters.ts";
import type { Repository } from "../repository.ts";

/** In whose name commits are made, and how they are signed. */
export interface Signature {
  /** Undefined when git does not know the user. */
  readonly user: { readonly name: string; readonly email: string } | undefined;
  /** Settings for the signature; undefined when the user does not sign. */
  readonly signing: readonly string[] | undefined;
}

/**
 * Reads who the user is, and whether the user signs. Names may come from any configuration. Whether a commit is signed,
 * with which key and by which program is said by the user's own configuration or the machine's only: agents can write
 * that of the repository, and a signature it asks for would stop every landing.
 */
export async function readSignature(repository: Repository): Promise<Signature> {
  const wanted = "^((user|author|committer)\\.(name|email)|user\\.signingkey|commit\\.gpgsign|gpg\\..*)$";
  const settings = await settingsMatching(repository, wanted);
  // An empty name is none: git itself refuses to commit in it.
  const last = (key: string): string | undefined =>
    settings.findLast((setting) => setting.key === key && setting.value.trim() !== "")?.value;
  const name = last("user.name") ?? last("committer.name") ?? last("author.name");
  const email = last("user.email") ?? last("committer.email") ?? last("author.email");
  const user = name === undefined || email === undefined ? undefined : { name, email };
  const own = settings.filter(({ isUsers }) => isUsers);
  if (!isTrue(own.findLast(({ key }) => key === "commit.gpgsign")?.value)) return { user, signing: undefined };
  const mayDecide = own.filter(({ key }) => key === "user.signingkey" || key.startsWith("gpg."));
  return { user, signing: mayDecide.map(({ key, value }) => `${key}=${value}`) };
}

const isTrue = (value: string | undefined): boolean => /^(true|yes|on|[1-9]\d*)$/i.test(value ?? "");
