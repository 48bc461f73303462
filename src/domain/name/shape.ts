/** What a text must look like beyond being text; `must` completes the sentence "must be ...". */
export interface Shape {
  readonly must: string;
  readonly fits: (text: string) => boolean;
}

/** A leading dash would be read by git as an option. */
export const branchName: Shape = {
  must: "a branch name git accepts",
  fits: (text) =>
    /^[^-/.\s~^:?*[\\][^\s~^:?*[\\]*$/.test(text) &&
    !/\p{Cc}|\.\.|\/\/|\/\.|@\{|[/.]$|\.lock(\/|$)/u.test(text) &&
    text !== "@" &&
    text !== "HEAD",
};

/** Such paths are joined to directories we delete and copy in, so none may lead out of them. */
export const relativePath: Shape = {
  must: "a path inside the project, without a leading / and without ..",
  fits: (text) => !/^([/\\~]|[A-Za-z]:)/.test(text) && !text.split(/[/\\]/).includes(".."),
};
