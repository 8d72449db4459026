#!/usr/bin/python3
"""A result full of text that means harm, made from a harmless one.

usage: hostile.py RESULT.json >HOSTILE.json
"""
import json
import sys

HARM = (
    "=1+1<script>document.title='pwned'</script>\"'`touch pwned`$(touch pwned)"
    "\n\";system('touch pwned')\n!touch pwned\n' ; set output 'pwned' ; '"
    "<img src=x onerror=document.title='pwned'>]]>--> @plot {/Bold x}_y^z \\n"
    " %s %n &amp; | a | b |\r\n\t\u00dcml\u00e4ut \u6f22\u5b57 \u202e \u20ac"
    " \U0001f600 \x7f\u0085 end")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    result["run"]["label"] = HARM + "x" * 10240
    result["run"]["profile"] = HARM
    result["run"]["source"] = [{"title": HARM, "where": "javascript:alert(1)",
                                "retrieved": HARM}]
    result["device"]["name"] = HARM
    result["machine"]["cpu"]["model"] = HARM
    result["machine"]["storage"] = {"path": HARM}
    result["machine"]["</script><b>"] = {HARM: HARM}
    result["skipped"].append({"bench": "gemm", "params": {"a<b": HARM},
                              "reason": HARM, "code": HARM})
    result["failures"].append({"bench": "gemm", "params": {}, "reason": HARM,
                               "exit": 1, "log_tail": HARM * 5})
    for m in result["measurements"]:
        m["flags"] = m["flags"] + [HARM]
        m["check"] = {"status": "pass", "detail": HARM}
        m["source"] = 0
    # Names and values as bad as an id lets them be.
    odd = json.loads(json.dumps(result["measurements"][0]))
    value = "<b>'`\"\\,;=@x/\u00a0\u2028\u6f22"
    odd["params"] = {"a-b": value, "a.b": 1, "\u00b5'<": "-8"}
    odd["id"] = "%s/%s?%s" % (odd["bench"], odd["metric"], "&".join(
        "%s=%s" % (k, v) for k, v in sorted(
            odd["params"].items(), key=lambda kv: kv[0].encode())))
    odd["reference"] = {"value": odd["summary"]["median"], "what": HARM}
    result["measurements"].append(odd)
    json.dump(result, sys.stdout)


main()
