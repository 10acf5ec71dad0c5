#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the real Hydra composes: writes expected.json beside this file.

Needs hydra-core 1.3 (pip install hydra-core). Run it again after a change of conf/ or of CASES; the tests compare our
composition with the stored answers and need no Python package.
"""
import json
import os
import sys

import hydra
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

# configuration, overrides, environment
CASES = [
    ("plain", []),
    ("main", []),
    ("main", ["run.style=light", "run.id=night-1", "run.top_n_kernels=3"]),
    ("main", ["db=postgres"]),
    ("main", ["server=nginx"]),
    ("main", ["server/ssl=strict"]),
    ("main", ["server/ssl@server.other=relaxed", "db@spare=postgres"]),
    ("main", ["model/tiny/arch@model=tiny.wide", "infer.batch=16"]),
    ("main", ["profiling/nsys@pipeline.nsys=light", "pipeline.nsys.sample=process-tree"]),
    ("main", ["dataset=squad"]),
    ("main", ["dataset=coco"]),
    ("several", ["+dataset=extra", "+dataset@a.b=squad", "+dataset@_global_=coco"]),
    ("main", ["dataset=[squad,extra]"]),
    ("main", ["+dataset@more=extra", "++more.extra=no"]),
    ("main", ["+experiment=fast"]),
    ("main", ["+experiment=fast", "db=mysql"]),
    ("main", ["+new.key=1", "+new.list=[1,two,{three:3}]", "++new.key=2", "++run.style=x"]),
    ("main", ["~server", "~artifacts.keep_runs=0", "~types.mixed", "~types.hex=31"]),
    ("main", ["~server", "~types", "~chain.sibling", "chain.c.y=1"]),
    ("main", ["~server=apache", "~schema", "~dataset", "~model/tiny/infer@infer"]),
    ("main", ["~schema", "db.port=5", "db.options={timeout:1}", "db.options.retry=[]"]),
    ("main", ["list=[a,b,[c]]", "chain.c={x:2}", "types=null", "missing=given", "by_index=${list[2][0]}"]),
    ("main", ["list.0=zero", "list.3.four=vier"]),
    ("main", ["run.style='single \\'quoted\\''", 'run.id="double \\"quoted\\" \\\\"', "types.text=a\\,b\\=c\\ d"]),
    ("main", ["run.style=yes", "run.id=TRUE", "types.text=NULL", "types.small=-1.5E-3", "types.big=1_0.5", "types.hex=0x1f"]),
    ("main", ["run.style=  padded text  ", "run.id=", "types.text=08", "types.point=+5", "types.whole=a:b-c/d.e%f"]),
    ("main", ["run.style=${db.name}", "run.id=x${db.port}y", "types.text='${run.id} ${types.small}'"]),
    ("main", ["run.id=${oc.env:LP_TEST_VALUE}", "types.text=${oc.env:LP_TEST_ABSENT,1e3}", "run.style='${oc.decode:${oc.env:LP_TEST_VALUE}}'"]),
    ("main", ["run.style='${oc.select:no.such.key,fallback}'", "run.id='${oc.select:db.port}'", "types.text='${now:%%}'"]),
    ("main", ["+deep.a.b.c={d:{e:[{f:1},{}]}}", "+deep.a.x=${deep.a.b.c.d}"]),
    ("main", ["types={truth:false}", "chain={a:1,b:{}}"]),
    ("derived", []),
    ("derived", ["db=mysql", "+types.own=1"]),
    ("several", []),
    ("several", ["db=postgres", "~nested", "own=[]"]),
    ("several", ["db=[base,postgres]", "+types.new=[{a:[]},{}]"]),
    ("several", ["nested.below=1", "flat.value='1'", "++own={a:{b:null}}"]),
    ("fast", []),
    ("fast", ["db=base", "server/ssl@server=relaxed"]),
    ("fast", ["~server/ssl@server", "run=null", "+run=5"]),
    ("main", ["experiment=fast"]),
    ("several", ["db=postgres", "experiment=fast", "+server=nginx"]),
    ("main", ["~db=mysql", "~schema"]),
    ("nested/top", []),
    ("experiment/fast", []),
    ("plain", ["a=.inf", "b.c=[1e300,-0.0,0.1,100000000000000000,1e16,123456.789e-10]", "b.d=0.0001"]),
    ("plain", ["a=\\(\\)\\[\\]\\{\\}\\:\\=\\,\\\\", "b.d='[x], {y}'", "b.c=['a,b',\"c'd\",e f]"]),
    ("plain", ["b={c:3}", "b.d={e:f}", "+b.d.g=[h]", "+g.1=x", "+b.d.e=ignored"]),
    ("plain", ["b={c:3}", "b.d={e:f}", "+b.d.g=[h]", "+g.1=x", "++b.d.e=taken", "~a=1"]),
    # Errors: ours must be errors, too.
    ("main", ["run.modus=x"]),
    ("main", ["db=oracle"]),
    ("main", ["nodb=mysql"]),
    ("main", ["db@nowhere=mysql"]),
    ("main", ["~nothing"]),
    ("main", ["~db=postgres"]),
    ("main", ["+run.style=x"]),
    ("main", ["++db=mysql"]),
    ("main", ["+db=postgres"]),
    ("main", ["db=5"]),
    ("main", ["db=null"]),
    ("main", ["run.style=a=b"]),
    ("main", ["run.style=a,b"]),
    ("main", ["run.style=[a"]),
    ("main", ["run.style={a}"]),
    ("main", ["run.style='open"]),
    ("main", ["run.style=a#b"]),
    ("main", ["run.style"]),
    ("main", ["run.style=${no.such.key}"]),
    ("main", ["run.style=${missing}"]),
    ("main", ["run.id=${oc.env:LP_TEST_ABSENT}"]),
    ("main", ["run.style.deeper=1"]),
    ("main", ["run={more:1}"]),
    ("main", ["list.9=x"]),
    ("main", ["/db=mysql"]),
    ("twice", []),
    ("lost", []),
    ("bad_override", []),
    ("asks", []),
    ("loop", []),
    ("absent", []),
]
ENVIRONMENT = {"LP_TEST_RUNS": "/data/runs", "LP_TEST_VALUE": "12"}


def answer(folder, name, overrides):
    try:
        with initialize_config_dir(version_base="1.3", config_dir=folder):
            config = compose(config_name=name, overrides=overrides)
            return {"config": OmegaConf.to_container(config, resolve=True)}
    except Exception as error:  # the kinds are Hydra's; that it fails is what counts
        return {"error": type(error).__name__ + ": " + str(error).splitlines()[0].replace(folder, "conf")}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ.update(ENVIRONMENT)
    cases = [{"name": name, "overrides": overrides, **answer(os.path.join(here, "conf"), name, overrides)}
             for name, overrides in CASES]
    with open(os.path.join(here, "expected.json"), "w", encoding="utf-8") as file:
        json.dump({"hydra": hydra.__version__, "environment": ENVIRONMENT, "cases": cases}, file, indent=1)
        file.write("\n")
    print(len(cases), "cases,", sum("error" in case for case in cases), "errors")


if __name__ == "__main__":
    sys.exit(main())
