import { Link } from "@tanstack/react-router";
import { Lexer, type Token, type Tokens } from "marked";
import { Fragment, type ReactNode, useMemo } from "react";
import css from "./prose.module.css";
import { nestsWithoutEnd, safeTarget } from "./safe-text.ts";

/** Deeper than a person writes. Below it, the text is shown as it was written. */
const deepest = 12;

/**
 * What an agent wrote, as Markdown. Its marks become elements of ours; HTML in it stays text, and images become links, so
 * that nothing an agent writes is run or fetched by the page.
 */
export default function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return tokens === undefined ? <p className={css.plain}>{text}</p> : blocks(tokens, 0);
}

function tokensOf(text: string): readonly Token[] | undefined {
  if (nestsWithoutEnd(text)) return undefined;
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    // Text that nests deeper than the stack can follow is shown as it was written.
    return undefined;
  }
}

/** Draws each part. Parts of one text have no name but their place. */
const each = <Part,>(parts: readonly Part[] | undefined, draw: (part: Part) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  (parts ?? []).map((part, at) => <Fragment key={at}>{draw(part)}</Fragment>);

const blocks = (tokens: readonly Token[] | undefined, depth: number): ReactNode =>
  each(tokens, (token) => block(token, depth + 1));

function block(token: Token, depth: number): ReactNode {
  if (depth > deepest) return token.raw;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      // A heading of a message is no heading of the page.
      return <p className={css.heading}>{inlines(token.tokens, depth)}</p>;
    case "paragraph":
      return <p>{inlines(token.tokens, depth)}</p>;
    case "text":
      return token.tokens === undefined ? (token as Tokens.Text).text : inlines(token.tokens, depth);
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide block is scrolled by keyboard
        <pre tabIndex={0}>
          <code>{(token as Tokens.Code).text}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks(token.tokens, depth)}</blockquote>;
    case "hr":
      return <hr />;
    case "list":
      return list(token as Tokens.List, depth);
    case "table":
      return table(token as Tokens.Table, depth);
    case "html":
      return <p className={css.plain}>{token.raw}</p>;
    default:
      return inline(token, depth);
  }
}

function list({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
  const lines = each(items, (item) => <li>{blocks(item.tokens, depth)}</li>);
  return ordered ? <ol start={typeof start === "number" ? start : 1}>{lines}</ol> : <ul>{lines}</ul>;
}

function table({ header, rows }: Tokens.Table, depth: number): ReactNode {
  return (
    <div className={css.wide}>
      <table>
        <thead>
          <tr>
            {each(header, (cell) => (
              <th>{inlines(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {each(rows, (row) => (
            <tr>
              {each(row, (cell) => (
                <td>{inlines(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inlines = (tokens: readonly Token[] | undefined, depth: number): ReactNode =>
  each(tokens, (token) => inline(token, depth + 1));

function inline(token: Token, depth: number): ReactNode {
  if (depth > deepest) return token.raw;
  switch (token.type) {
    case "strong":
      return <strong>{inlines(token.tokens, depth)}</strong>;
    case "em":
      return <em>{inlines(token.tokens, depth)}</em>;
    case "del":
      return <del>{inlines(token.tokens, depth)}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "br":
      return <br />;
    case "checkbox":
      return token.checked === true ? "☑ " : "☐ ";
    case "link":
      return link((token as Tokens.Link).href, inlines(token.tokens, depth));
    case "image": {
      const { href, text } = token as Tokens.Image;
      return link(href, text === "" ? href : text);
    }
    case "text":
    case "escape":
      return "tokens" in token && token.tokens !== undefined ? inlines(token.tokens, depth) : String(token.text);
    default:
      return token.raw;
  }
}

function link(href: string, words: ReactNode): ReactNode {
  const target = safeTarget(href);
  if (target === undefined) return words;
  if (target.startsWith("/")) return <Link to={target as never}>{words}</Link>;
  return (
    <a href={target} target="_blank" rel="noreferrer noopener">
      {words}
    </a>
  );
}
