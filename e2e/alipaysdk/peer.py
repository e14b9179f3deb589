"""A shop in Python beside ours, by python-alipay-sdk: reads one JSON object from stdin and writes one to stdout."""
import json
import sys

from alipay import AliPay

asked = json.load(sys.stdin)


def sdk(ours, theirs):
    return AliPay(
        appid=asked["app_id"],
        app_notify_url=asked["notify_url"],
        app_private_key_string=ours,
        alipay_public_key_string=theirs,
        sign_type="RSA2",
    )


shop = sdk(asked["app_private"], asked["alipay_public"])
alipay = sdk(asked["alipay_private"], asked["app_public"])


def signed(page):
    """Calls the method that the SDK has for a kind; more is added to biz_content."""
    call = {"page": shop.api_alipay_trade_page_pay, "wap": shop.api_alipay_trade_wap_pay}[page["kind"]]
    return call(
        subject=page["subject"],
        out_trade_no=page["out_trade_no"],
        total_amount=page["total_amount"],
        return_url=page["return_url"],
        **page["more"],
    )


def request(params):
    """Says whether Alipay would take a call: its sign_type is signed, which verify leaves out."""
    sign = params.pop("sign")
    text = "&".join(f"{k}={v}" for k, v in sorted(params.items()))
    return alipay._verify(text, sign)


def returned(params):
    """Says whether the shop takes a return or a notification."""
    sign = params.pop("sign")
    return shop.verify(params, sign)


json.dump(
    {
        "pages": [signed(p) for p in asked["pages"]],
        "requests": [request(p) for p in asked["requests"]],
        "returns": [returned(p) for p in asked["returns"]],
    },
    sys.stdout,
)
