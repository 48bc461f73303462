import { describe } from "bun:test";
import { commandCases } from "../../../testkit/guard-cases.ts";

const message = 'git commit -m "$(cat <<\'EOF\'\nfix: keep the order\n\nIt\'s "done"; rm -rf / is only text.\nEOF\n)"';

/** In two pieces, so that nobody takes it for a placeholder of ours. */
const tmp = "$".concat("{TMPDIR:-/tmp}");

describe("ordinary work", () => {
  commandCases("builder", {
    may: [
      message,
      `git add -A && ${message} && git log -1`,
      "git commit -F - <<'EOF'\nA title\n\ngit push\nEOF",
      "git add -A && git commit -m x",
      "git add src/a.ts && git commit -m 'a: b' && git status",
      "git diff main...HEAD",
      "git log --oneline main..HEAD",
      "cd sub && npm test",
      "cd /w/tree && npm test",
      "cd /w && ls && cat package.json",
      "cd /tmp && npm init -y",
      "cd /w && ov status",
      "npm test -- --grep x | head -50",
      "npm test 2>&1 | tail -20",
      "CI=1 npm test",
      "NODE_ENV=test npx jest --runInBand",
      "npm install left-pad && npm run build",
      "mkdir -p src/x && touch src/x/y.ts",
      "cat > src/a.ts <<'EOF'\nexport const home = `x`; // $(rm -rf /) $HOME\nEOF",
      "cat >> notes.md <<EOF\nmore\nEOF",
      "rm -rf dist",
      "rm -rf node_modules/.cache coverage",
      "mv src/a.ts src/b.ts && cp src/b.ts src/c.ts",
      "sed -i s/a/b/ src/a.ts",
      "sed -i 's/a/b/g' src/*.ts",
      "find . -name '*.ts' | xargs grep foo",
      "find . -name '*.ts' -exec sed -i 's/a/b/' {} +",
      'for f in src/*.ts; do echo "$f"; done',
      'while read -r f; do wc -l "$f"; done < list.txt',
      "if npm test; then echo green; else echo red; fi",
      "node script.js --flag",
      "node --test && node --test --test-name-pattern=x src",
      "python3 -m pytest -q tests/test_a.py",
      "go test ./... && cargo test && make test",
      "npx tsc --noEmit && npx eslint . --fix",
      "ls -la | head; pwd; which node",
      "x=$(git rev-parse HEAD); echo $x",
      "diff -u <(git show HEAD:a.ts) a.ts | head -40",
      "(npm run dev > /tmp/dev.log 2>&1 &) ; sleep 2; curl -s localhost:3000",
      "echo x > /tmp/note && cat /tmp/note && rm /tmp/note",
      "mkdir -p /tmp/draft && cp a.ts /tmp/draft/",
      'echo x > "$TMPDIR/note"',
      "npm test > $TMPDIR/out.log 2>&1; tail $TMPDIR/out.log",
      `mkdir -p "$\{TMPDIR}/work" && touch $TMPDIR/work/a`,
      `rm -rf "${tmp}/work"`,
      `tar czf ${tmp}/x.tgz .`,
      "jq '.a' package.json > /tmp/x && mv /tmp/x package.json",
      "tee src/a.txt <<< hello",
      "chmod +x scripts/run.sh && ./scripts/run.sh",
      "ov mail send --to lead --type question --subject x --body 'may I git push?'",
    ],
    mayNot: [
      "rm -rf $TMPDIR/work",
      "rm -rf $TMPDIR/*",
      "echo x > $TMPDIR/../etc/x",
      "TMPDIR=/etc; echo x > $TMPDIR/x",
      `export TMPDIR=/etc && touch ${tmp}/x`,
      'echo x > "$TMPDIR$y"',
      "echo x > $HOME/x",
      // The specification asks for paths that can be told beforehand, and for code that can be read.
      "f=$(ls) && echo x > $f",
      'for f in $(ls); do sed -i s/a/b/ "$f"; done',
      "ls | xargs rm",
      "node -e 'console.log(1)'",
      "node --test -e 'console.log(1)'",
      "echo 'print(1)' | python3 -v",
      "python3 - <<'EOF'\nprint(1)\nEOF",
    ],
  });

  commandCases("reviewer", {
    may: [
      "git diff main...overstory/b1/t1 --stat && git log main..overstory/b1/t1",
      "git show overstory/b1/t1:src/a.ts | sed -n '1,80p'",
      "npm test 2>&1 | tail -20",
      "cd sub && npm test",
      "grep -rn foo src --include='*.ts' | awk -F: '{print $1}' | sort -u",
      'for f in $(git diff --name-only main); do wc -l "$f"; done',
    ],
    mayNot: ["git checkout overstory/b1/t1", "npm install", "echo x > $TMPDIR/x", "git stash", "git pull"],
  });
});
