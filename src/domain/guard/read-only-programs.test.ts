import { describe, expect, test } from "bun:test";
import { policyFor, runs } from "../../../testkit/guard.ts";
import { commandCases } from "../../../testkit/guard-cases.ts";
import { roleList } from "../role/roles.ts";

describe("awk", () => {
  commandCases("scout", {
    may: [
      "awk -F '|' '{print $2}' a",
      "awk -F , -v n=3 'NR == n {print $1}' a",
      'awk -F"$sep" -v x="$y" \'{print $1}\' a',
      "awk '{ if ($1 > max) max = $1 } END { print max }' a",
      "awk '$3 > 5 && $4 >= 2 { n++ } END { print n / 2, (n > 1) }' a",
      "awk '/a|b/ { print $1 \" > \" $2 }' a",
      "awk '{ print ($1 > $2 ? $1 : $2) }' a",
      'awk \'{ print "x" > "/dev/stderr" }\' a',
      "awk '# print > x\n{ print }' a",
      "awk 'NR>1' a",
      "awk 'a || b { print }' x",
      "awk '{ print }\nNR > 3 { exit }' a",
      "gawk --csv '{ print $1 }' a",
    ],
    mayNot: [
      "awk -F , 'BEGIN{system(\"npm ci\")}'",
      "awk -F : '{print > \"out\"}' a",
      "awk -v x=1 '{print $1 >> \"out\"}' a",
      "awk '{ print $1, $2 > $3 }' a",
      "awk '{ print(1) > \"out\" }' a",
      'awk \'{ printf "%s", $1 > "out" }\' a',
      "awk '{ if ($1 > 2) print $1 > \"out\" }' a",
      "awk '{ print $1,\n\n $2 > \"out\" }' a",
      "awk '{ print $1, # why\n $2 > \"out\" }' a",
      "awk '{ print $1 \\\n > \"out\" }' a",
      'awk \'{ print > "/dev/stderr" "x" }\' a',
      "awk '{ a++ / 2; print > \"out\" / 3 }' a",
      "awk '{ print | \"sh\" }' a",
      "awk 'BEGIN { \"date\" | getline d }'",
      'awk \'BEGIN { f = "system"; @f("x") }\'',
      "awk -f prog a",
      "awk -e '{print}' a",
      "gawk -i inplace '{print}' a",
      "gawk -o prog '{print}'",
      "gawk --source='{print}' a",
      'awk "$program" a',
      "awk -F , \"$program\" '{print}'",
    ],
  });
});

describe("sed", () => {
  commandCases("scout", {
    may: [
      "sed -l 5 -n l a",
      "sed -En 's/(a|b)/x/p' a",
      "sed --expression='s/a/b/' --quiet a",
      "sed -e 5q -e '/x/d' a",
      "sed ':a;N;$!ba;s/\\n/ /g' a",
      "sed -n '/from/,/to/{p;}' a",
      "sed -nep a",
    ],
    mayNot: [
      "sed -l 5 'w out' a",
      "sed --line-length 5 'w out' a",
      "sed --expr='w out' p",
      "sed -n 'b;w out' a",
      "sed '/x/b end;w out' a",
      "sed ':a;w out' a",
      "sed 's/a/b/ w out' a",
      "sed 's/[/]/p;a/w out' a",
      "sed '/[/p;a/]/w out' a",
      "sed -bi s/a/b/ a",
      "sed -s --in s/a/b/ a",
      "sed -nfscript a",
      "sed --fil=script a",
      "sed --unknown p a",
    ],
  });
  commandCases("builder", {
    may: ["sed -i.bak -e s/a/b/ src/a.ts", "sed -n -l 5 p /etc/hosts", "sed -i '/x/d' src/a.ts src/b.ts"],
    mayNot: ["sed -bi s/a/b/ /etc/hosts", "sed -i -l 5 s/a/b/ /etc/hosts", "sed -i -e s/a/b/ -- /etc/hosts"],
  });
});

describe("variables", () => {
  const steering = [
    "read PATH <<< .; ls",
    "read -r a PATH <<< 'a .'",
    "read -ra PATH <<< .",
    "printf -v PATH .",
    "printf -vPATH .",
    "mapfile -t PATH < a",
    "export 'PATH=.'; ls",
    "declare -x 'PATH=.'",
    "declare -n p=PATH; p=.",
    "let PATH=1",
    "let 'a[$(touch x)]=1'",
    "unset 'a[$(touch x)]'",
    'read "$name"',
    "PS4='$(touch x)'; set -x",
    "HOME=. git status",
    "IFS=/; ls",
    "GCONV_PATH=. ls",
  ];
  commandCases("scout", {
    may: [
      'while read -r line; do echo "$line"; done < a',
      "read -r a b <<< 'x y'",
      'while IFS= read -r line; do echo "$line"; done < a',
      "read -p 'the PATH: ' answer < a",
      "printf '%s\\n' PATH",
      "printf -v line '%s' x",
      "mapfile -t lines < a",
      "export LC_ALL=C; sort a",
      "let n=1+2",
      "declare -A seen; local x=1",
      "unset n",
    ],
    mayNot: [...steering, "mapfile -C 'touch x' -c 1 < a"],
  });
  commandCases("builder", {
    may: ["read -r PATH < a", "export PATH=node_modules/.bin:$PATH", "mapfile -t lines < a"],
    mayNot: ["export GIT_DIR=/other/.git", "printf -v GIT_DIR /other/.git", "mapfile -C 'git push' lines < a"],
  });
});

describe("what a shell evaluates", () => {
  const evaluates = [
    "x='a[$(touch y)]'; echo $((x))",
    "x='a[$(touch y)]'; [[ x -eq 1 ]]",
    "x='a[$(touch y)]'; [[ $x -eq 1 ]]",
    "x='a[$(touch y)]'; let x",
    "x='a[$(touch y)]'; (( x ))",
    "x='a[$(touch y)]'; (( y = x + 1 ))",
    "x='a[$(touch y)]'; for ((i=x; i<3; i++)); do ls; done",
    `x='a[$(touch y)]'; echo \${HOME:x}`,
    `x='a[$(touch y)]'; echo \${HOME:0:x}`,
    `x='a[$(touch y)]'; echo \${a[x]}`,
    "x='a[$(touch y)]'; a[x]=1",
    `x='a[$(touch y)]'; echo \${!x}`,
    "declare -i z='a[$(touch y)]'",
    "declare -i z; z='a[$(touch y)]'",
    "local -ri z=x",
    "read -r x < a; echo $((x + 1))",
    "for x in 'a[$(touch y)]'; do echo $((x)); done",
    "x=1; x='a[$(touch y)]'; echo $((x))",
    "x=$(cat a); echo $((x))",
    "set -- 'a[$(touch y)]'; echo $(($1))",
    "test -v 'a[$(touch y)]'",
    "[ -v 'a[$(touch y)]' ]",
    "[[ -v 'a[$(touch y)]' ]]",
    'test -v "$x"',
    `x='$(touch y)'; echo "\${x@P}"`,
    "for GIT_EXTERNAL_DIFF in /tmp/x; do export GIT_EXTERNAL_DIFF; git diff; done",
    `: \${GIT_PAGER:=/tmp/x}; export GIT_PAGER; git -p log`,
    `: \${GIT_PAGER=/tmp/x}`,
    "for PATH in /tmp/evil; do ls; done",
    "select PATH in /tmp/evil; do ls; done",
    "for PATH; do ls; done",
  ];
  commandCases("scout", {
    may: [
      "echo $((1 + 2))",
      "i=0; while ((i < 3)); do i=$((i + 1)); done",
      "n=$(wc -l < a.txt); echo $((n / 2))",
      "n=$(ls | wc -l); [[ $n -gt 3 ]]",
      "for i in 1 2 3; do echo $((i * 2)); done",
      "for i in {1..5}; do echo $((i * 10)); done",
      'for f in *.ts; do wc -l "$f"; done',
      `echo "\${name:-none}" "\${#name}" "\${path##*/}" "\${line:0:10}"`,
      "echo $((16#ff + 0x10 + RANDOM))",
      'test -n "$x" && [ -v HOME ] && [[ -f a && $x == b ]]',
      "declare -A seen; local x=1",
      "let n=1+2",
    ],
    mayNot: evaluates,
  });
  commandCases("builder", {
    may: [
      "x=3; echo $((x * n))",
      "declare -i n=1",
      "for PATH in a b; do ls; done",
      "for ((i = 0; i < n; i++)); do ls; done",
    ],
    mayNot: [`x='$(git push)'; echo "\${x@P}"`, "for GIT_DIR in /other/.git; do export GIT_DIR; git log; done"],
  });
});

describe("programs that run others elsewhere", () => {
  commandCases("builder", {
    may: ["alias", "script --version", "ls | xargs -I{} grep foo {}", "ls | xargs -I NAME echo NAME"],
    mayNot: [
      "unshare -Ur git push",
      "script -c 'git push' /dev/null",
      "su -c 'git push'",
      "nsenter -t 1 git push",
      "parallel git ::: push",
      "alias p='git push'; p",
      "echo git push | xargs -I{} sh -c {}",
      "echo git push | xargs -i sh -c {}",
      "echo git push | xargs --replace=X sh -c X",
      "echo push | xargs -I{} git {}",
      "npm config set script-shell /tmp/x",
      "npm run build --script-shell=/tmp/x",
      "pnpm config set scriptShell /tmp/x",
      "npm_config_script_shell=/tmp/x npm test",
    ],
  });
});

describe("other programs", () => {
  commandCases("scout", {
    may: [
      "find . -name '*.ts' -printf '%p\\n'",
      "date -Iseconds && date -u +%s",
      "uniq -f 1 a",
      "xxd -s 16 -l 32 a",
      "file a && base64 a && tree -L 2",
      "cloc --json src",
      "ag foo src",
      "node -v && npm -v && python3 --version",
    ],
    mayNot: [
      "find . -fprint0 out",
      "date -us 12:00",
      "uniq -f 1 a b",
      "uniq {a,b}",
      "sort {-o,a} b",
      "find . {-delete,-print}",
      "xxd -s 16 a b",
      "file -C -m a",
      "tree -R -H . -L 2",
      "cloc --report-file=x src",
      "cloc --extract-with='touch x' src",
      "diff3 --diff-program=./x a b c",
      "ag --pager ./x foo",
      "yq -s .a f",
      "echo 'code' | python3 -v",
    ],
  });
});

test("what only looks is open to everybody", () => {
  for (const role of roleList) {
    for (const command of ["awk '{ print $1 }' a | sort | uniq -c", "sed -n 1,20p a", "cat a; ls -la; wc -l a"]) {
      expect(runs(policyFor(role), command)).toEqual({ decision: "allow" });
    }
  }
});
