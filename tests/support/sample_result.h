/* A small result that tests read, change and write. */
#ifndef SV_TEST_SAMPLE_RESULT_H
#define SV_TEST_SAMPLE_RESULT_H

/* Everything that a file can hold, once. */
static const char sample_result[] =
    "{\"schema\": \"stave.result/1\",\n"
    " \"run\": {\"id\": \"r1\", \"label\": \"one\", \"profile\": \"quick\",\n"
    "  \"started\": \"2026-01-01T00:00:00Z\",\n"
    "  \"finished\": \"2026-01-01T00:01:00Z\",\n"
    "  \"stave\": {\"version\": \"0.1.0\", \"revision\": \"abc\"},\n"
    "  \"complete\": true, \"origin\": \"published\",\n"
    "  \"source\": [{\"title\": \"T\", \"where\": \"W\",\n"
    "   \"retrieved\": \"2026-01-01\"}], \"seed\": \"7\"},\n"
    " \"machine\": {\"cpu\": {\"model\": \"M\"}, \"unknown\": []},\n"
    " \"device\": {\"backend\": \"host\", \"name\": \"N\",\n"
    "  \"pcie\": {\"under_load\": {\"width\": 8}}, \"unknown\": []},\n"
    " \"measurements\": [\n"
    "  {\"id\": \"transfer/bandwidth?bytes=4096&direction=h2d\",\n"
    "   \"bench\": \"transfer\", \"metric\": \"bandwidth\",\n"
    "   \"params\": {\"direction\": \"h2d\", \"bytes\": 4096},\n"
    "   \"unit\": \"B/s\", \"better\": \"higher\", \"inner\": 128,\n"
    "   \"rounds\": [1.5e9, 1.25e9, 1.375e9],\n"
    "   \"samples\": [[1.5e9], [1.25e9, 1.25e9], [1.375e9]],\n"
    "   \"summary\": {\"n\": 3, \"median\": 1.375e9, \"ci95\": null,\n"
    "    \"mad\": 1.25e8, \"min\": 1.25e9, \"max\": 1.5e9,\n"
    "    \"p05\": 1.25e9, \"p95\": 1.5e9},\n"
    "   \"reference\": {\"value\": 2e9, \"what\": \"the link\"},\n"
    "   \"flags\": [\"noisy\"],\n"
    "   \"check\": {\"status\": \"pass\", \"detail\": \"d\"},\n"
    "   \"source\": 0},\n"
    "  {\"bench\": \"launch\", \"metric\": \"submit\", \"unit\": \"s\",\n"
    "   \"better\": \"lower\", \"summary\": {\"n\": 0,\n"
    "   \"median\": 2.5e-6}}],\n"
    " \"skipped\": [{\"bench\": \"peer\", \"params\": {}, \"reason\": "
    "\"one\",\n"
    "  \"code\": \"unsupported\"}],\n"
    " \"failures\": [{\"bench\": \"gemm\", \"params\": {\"m\": 1},\n"
    "  \"reason\": \"crash\", \"signal\": 11, \"log_tail\": \"\",\n"
    "  \"round\": 2}]}\n";

#endif
